// SPDX-License-Identifier: Apache-2.0
// Under which name and at which place the time of a node is kept: calibration writes there what it
// measures, prediction reads there.
#pragma once

#include "tutti/graph/graph.h"

#include <string>
#include <vector>

namespace tutti {

struct NodeClass {
  std::string name;        // "convolution/onednn", "relu/simd"
  std::vector<double> at;  // logarithms of sizes, weighed so that distances compare
  double units = 0;        // what the time grows with: multiply–adds of products, else bytes
};

NodeClass class_of(const Graph& graph, const Node& node, const std::string& implementation);

// Bytes that the node reads and writes, as they lie in memory.
double touched_bytes(const Graph& graph, const Node& node);

}  // namespace tutti
