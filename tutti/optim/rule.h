// SPDX-License-Identifier: Apache-2.0
// An update rule: one inline scalar function and a count of state vectors, applied to a range of
// the flat vectors. Some rules need norms over the range first. A rule never learns what a layer
// is.
#pragma once

#include "tutti/core/dtype.h"
#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/optim/hyper.h"

#include <string>
#include <vector>

namespace tutti {

// The elements that a rule updates, and its numbers.
struct UpdateArgs {
  DType dtype = DType::f32;
  void* w = nullptr;              // weights, updated in place
  const void* g = nullptr;        // gradients
  void* const* states = nullptr;  // Rule::states vectors, updated in place; zero before step 1
  std::int64_t count = 0;         // elements
  Hyper hyper;
};

struct Rule {
  std::string name, doc;
  std::vector<Setting> settings;  // all numbers, in the order of Hyper::rule
  int states = 0;                 // vectors, each as long as the weights
  bool still = false;             // where gradient and decay are zero, weight and states stay
  void (*apply)(const UpdateArgs&) = nullptr;  // plain loop, float or double
  // Adds Σ w² and Σ d² over these elements to the sums that become Hyper::squares; nullptr: the
  // rule needs no norms.
  void (*measure)(const UpdateArgs&, double* squares) = nullptr;
};

// The list of update rules, from the types in functors.h.
List<Rule> rules();

// The rule's own settings as Hyper::rule wants them.
std::vector<double> rule_numbers(const Rule& rule, const Settings& settings);

}  // namespace tutti
