// SPDX-License-Identifier: Apache-2.0
// Follows the samples of the batch through a graph by the operators' index notation: where every
// value has them, and what a rank that holds some of them would have of it.
#pragma once

#include "tutti/graph/graph.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tutti {

// What a rank that holds a part of the batch has of a value: all of it, the part along one
// dimension that belongs to its samples, or a summand.
struct SampleShare {
  enum Kind { whole, split, summand } kind = whole;
  std::size_t dimension = 0;
};

// Why a batch can't be cut at a node.
struct SampleObstacle {
  NodeId node = no_node;
  std::string why;
};

struct SampleFlow {
  std::vector<SampleShare> values;
  std::vector<SampleObstacle> obstacles;

  SampleShare& of(ValueId id) { return values[static_cast<std::size_t>(id)]; }
  const SampleShare& of(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  // Whether a node needs the sums over ranks of those of its inputs that are summands: any but a
  // linear one all of whose inputs are.
  bool needs_sums(const Node& node) const;
};

SampleFlow follow_samples(const Graph& graph);

}  // namespace tutti
