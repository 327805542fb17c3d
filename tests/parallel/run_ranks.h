// SPDX-License-Identifier: Apache-2.0
// One rank against many: cuts a graph over ranks and runs all of them side by side with the plain
// references, a node at a time, so that sums over ranks are loops.
#pragma once

#include "tutti/graph/verify.h"
#include "tutti/ops/allreduce.h"
#include "tutti/parallel/partition.h"

#include "contract/interpreter.h"

#include <numeric>
#include <vector>

namespace tutti::contract {

// Rows [begin, end) of the first dimension.
inline Array rows_of(const Array& whole, std::int64_t begin, std::int64_t end) {
  Type type = whole.type;
  type.shape[0] = end - begin;
  Array part(type);
  const std::int64_t row = elements(type.shape, 1, type.shape.size());
  for (std::int64_t i = 0; i < part.count(); ++i) part.set(i, whole.get(begin * row + i));
  return part;
}

struct RankRun {
  Graph graph;
  Values values;
  StepState step;
};

// A rank for each of `shares`, which are its samples of the batch. `feeds` are whole.
inline std::vector<RankRun> run_ranks(const Graph& graph, const Values& feeds,
                                      const std::vector<std::int64_t>& shares,
                                      StepState step = {}) {
  const std::int64_t samples = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  std::vector<RankRun> ranks;
  std::int64_t first = 0;
  for (const std::int64_t local : shares) {
    RankRun rank{graph, feeds, step};
    partition_samples(rank.graph, samples, local);
    verify(rank.graph, "partition");
    for (const ValueId id : graph.batch)
      rank.values.insert_or_assign(id, rows_of(feeds.at(id), first, first + local));
    rank.step.origins[StepState::samples] = first;
    first += local;
    ranks.push_back(std::move(rank));
  }
  for (std::size_t i = 0; i < ranks[0].graph.nodes.size(); ++i) {
    for (RankRun& rank : ranks) {
      const Node& node = rank.graph.nodes[i];
      std::vector<Array> in, out;
      for (const ValueId id : node.inputs)
        in.push_back(id == no_value ? Array::none() : rank.values.at(id));
      out = node.op == &ops::allreduce
                ? in
                : run_reference(*node.op, node.settings, in, rank.step, node.origin);
      for (std::size_t k = 0; k < out.size(); ++k)
        rank.values.insert_or_assign(node.outputs[k], out[k]);
    }
    if (ranks[0].graph.nodes[i].op != &ops::allreduce) continue;
    const ValueId id = ranks[0].graph.nodes[i].outputs[0];
    Array sum = ranks[0].values.at(id);
    for (std::size_t rank = 1; rank < ranks.size(); ++rank)
      for (std::int64_t e = 0; e < sum.count(); ++e)
        sum.set(e, sum.get(e) + ranks[rank].values.at(id).get(e));
    for (RankRun& rank : ranks) rank.values.insert_or_assign(id, sum);
  }
  return ranks;
}

// Random numbers for every value that no node makes.
inline Values random_feeds(const Graph& graph, std::int64_t classes = 3) {
  Values feeds;
  for (std::size_t id = 0; id < graph.values.size(); ++id)
    if (graph.values[id].producer == no_node)
      feeds.insert_or_assign(static_cast<ValueId>(id),
                             random_array(graph.values[id].type, 40 + id, classes));
  return feeds;
}

}  // namespace tutti::contract
