// SPDX-License-Identifier: Apache-2.0
// Chooses one of several variants for each operator of a network (B15): by rule, by times that were
// measured before on this machine, or by measuring now; always within a limit of scratch memory.
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

// The choice for one node, for reports.
struct VariantChoice {
  std::string node, sizes;  // name of the layer; operator and shapes
  // The variant that was chosen, and the one that the rule would take.
  std::string variant = {}, rule = {};
  std::vector<VariantTime> times = {};  // the times that are known
  bool measured = false;                // whether some of the times were measured now
};

// The variants that a training run chose, by operator, sizes, precision and workspace limit. The
// machine is not part of the key, so that a checkpoint can carry choices to another machine.
struct Choices {
  using Variants = std::map<std::string, std::string>;
  Variants given;  // choices of a checkpoint, taken where this machine can run them
  Variants made;   // choices of this training run
  // Given choices that this machine can't run; these are made anew.
  std::vector<std::string> lacking;
};

// What a recipe says about the choice of variants.
struct Selection {
  enum class Mode { rule, cache, measure };
  // The variant of every convolution that leaves its variant open, where it supports the
  // convolution.
  std::string convolution = "auto";
  Mode mode = Mode::rule;
  // Limit for the scratch memory of one node.
  std::int64_t workspace_bytes = std::numeric_limits<std::int64_t>::max();
  std::string cache_file = {};  // variant_cache.h; empty: none
  int threads = 1;
  std::string precision = "f32";  // what products multiply; fp16: what is stored between them
  bool micro_batches = false;     // convolutions may be cut over the batch
  // Called for every choice that is made.
  std::function<void(const VariantChoice&)> chosen = {};
  std::optional<VariantTimes> known = {};  // times to use instead of the cache file
  // Choices of a checkpoint, and those made, for the next checkpoint; nullptr: neither is kept.
  std::shared_ptr<Choices> choices = {};
};

Selection::Mode selection_mode(const std::string& name);  // "rule", "cache", "measure"

// The key under which the cache keeps the times of a node: sizes, threads, machine.
std::string variant_key(const Graph& graph, const Node& node, int threads);

// Chooses the variant of one node.
VariantChoice choose_variant(const KernelTable& table, const Selection& selection,
                             const Graph& graph, const Node& node);

// backend_of(table) with variants, precision and workspace as `selection` says. The table must
// outlive the result.
Backend backend_of(const KernelTable& table, const Selection& selection);

}  // namespace tutti
