// SPDX-License-Identifier: Apache-2.0
// Which of several variants of an operator a network runs by (B15): by rule, by what was measured
// before on this machine, or by measuring now; always under a limit of scratch memory.
#pragma once

#include "tutti/kernels/kernel_table.h"
#include "tutti/kernels/variant_cache.h"

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

// A choice that was made, for reports.
struct VariantChoice {
  std::string node, sizes;              // the layer; operator and shapes
  std::string variant = {}, rule = {};  // what was chosen, and what the rule says
  std::vector<VariantTime> times = {};  // what is known
  bool measured = false;                // now
};

// What a run chose, by what there was to choose: operator, sizes and precision. The machine is left
// out, so that choices can be carried to another.
struct Choices {
  using Variants = std::map<std::string, std::string>;
  Variants given;                    // by a checkpoint, taken where this machine can
  Variants made;                     // by this run
  std::vector<std::string> lacking;  // given, but not possible here; chosen anew
};

// What a recipe says about it.
struct Selection {
  enum class Mode { rule, cache, measure };
  std::string convolution = "auto";  // for every convolution that leaves it open and can run so
  Mode mode = Mode::rule;
  std::int64_t workspace_bytes = std::numeric_limits<std::int64_t>::max();  // of one node
  std::string cache_file = {};                                              // empty: none
  int threads = 1;
  std::string precision = "f32";  // what products multiply; fp16: what is stored between them
  bool micro_batches = false;     // convolutions may be cut over the batch
  std::function<void(const VariantChoice&)> chosen = {};
  std::optional<VariantTimes> known = {};  // instead of what the file holds
  std::shared_ptr<Choices> choices = {};   // to be kept and reused; nullptr: none
};

Selection::Mode selection_mode(const std::string& name);  // "rule", "cache", "measure"

// Under which key a node's times are kept: sizes, threads, machine.
std::string variant_key(const Graph& graph, const Node& node, int threads);

// The variant of one node.
VariantChoice choose_variant(const KernelTable& table, const Selection& selection,
                             const Graph& graph, const Node& node);

// backend_of() with `variant` as the recipe wants it. The table must outlive the result.
Backend backend_of(const KernelTable& table, const Selection& selection);

}  // namespace tutti
