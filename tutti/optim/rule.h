// SPDX-License-Identifier: Apache-2.0
// An update rule: one inline scalar function and a count of state vectors, applied to a range of
// the flat vectors; some ask for norms over the range first. It never learns what a layer is.
#pragma once

#include "tutti/core/dtype.h"
#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/optim/hyper.h"

#include <string>
#include <vector>

namespace tutti {

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
  int states = 0;
  bool still = false;  // without gradient and decay, weight and state stay as they are
  void (*apply)(const UpdateArgs&) = nullptr;  // plain loop, float or double
  // Adds this part's share of Hyper::squares; nullptr: the rule needs none.
  void (*measure)(const UpdateArgs&, double* squares) = nullptr;
};

List<Rule> rules();

// The rule's own settings as Hyper::rule wants them.
std::vector<double> rule_numbers(const Rule& rule, const Settings& settings);

}  // namespace tutti
