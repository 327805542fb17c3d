// SPDX-License-Identifier: Apache-2.0
// Follows the samples of the batch through a graph by the operators' index notation: along which
// dimension each value has the samples, and what a rank with a share of the batch holds of each
// value.
#pragma once

#include "tutti/graph/graph.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tutti {

// What a rank with a share of the batch holds of a value: the whole value; the elements that belong
// to its samples, along one dimension; or a summand.
struct SampleShare {
  enum Kind { whole, split, summand } kind = whole;
  std::size_t dimension = 0;  // the dimension of the samples, when split
};

// Why a batch can't be cut at a node.
struct SampleObstacle {
  NodeId node = no_node;
  std::string why;
};

// What becomes of each value, by its id, and the nodes at which a batch can't be cut.
struct SampleFlow {
  std::vector<SampleShare> values;
  std::vector<SampleObstacle> obstacles;

  SampleShare& of(ValueId id) { return values[static_cast<std::size_t>(id)]; }
  const SampleShare& of(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  // Whether a node needs the sum over ranks of each input that is a summand. Only a linear node all
  // of whose inputs are summands does not: it makes summands.
  bool needs_sums(const Node& node) const;
};

// Begins with the inputs of the batch and the carried states, whose first dimension has the
// samples.
SampleFlow follow_samples(const Graph& graph);

}  // namespace tutti
