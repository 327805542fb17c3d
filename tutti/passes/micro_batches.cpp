// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/micro_batches.h"

#include "tutti/graph/op.h"
#include "tutti/ops/add.h"
#include "tutti/ops/concatenate.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/slice.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace tutti {
namespace {

class MicroBatches {
 public:
  MicroBatches(Graph& graph, const Backend& backend) : graph_(graph), backend_(backend) {}

  void run() {
    std::vector<Node> original = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : original) {
      std::vector<BatchFragment> fragments;
      if (node.settings.has("variant"))
        fragments = cut_batch(
            graph_.shape(node.inputs[0])[0],
            [&](std::int64_t samples) { return backend_.fragment_options(graph_, node, samples); },
            backend_.workspace_bytes);
      if (fragments.size() > 1)
        cut(node, fragments);
      else
        graph_.nodes.push_back(std::move(node));
    }
    renumber(graph_);
  }

 private:
  // Samples [begin, end) of a value; each slice is made once.
  ValueId part(ValueId id, std::int64_t begin, std::int64_t end) {
    const auto key = std::tuple(id, begin, end);
    if (const auto found = parts_.find(key); found != parts_.end()) return found->second;
    const ValueId made =
        graph_.add1(ops::slice, {id}, {{"axis", std::int64_t{0}}, {"begin", begin}, {"end", end}});
    return parts_[key] = made;
  }

  void cut(const Node& node, const std::vector<BatchFragment>& fragments) {
    graph_.scope = node.name;
    const bool weight = node.op == &ops::convolution_grad_weight;
    std::vector<ValueId> results;
    std::int64_t begin = 0;
    for (const BatchFragment& fragment : fragments) {
      const std::int64_t end = begin + fragment.samples;
      Settings settings = node.settings;
      settings.set("variant", fragment.variant);
      const ValueId first = part(node.inputs[0], begin, end);
      const ValueId second = weight ? part(node.inputs[1], begin, end) : node.inputs[1];
      results.push_back(graph_.add1(*node.op, {first, second}, settings));
      begin = end;
    }
    if (weight)
      join_sum(node, results);
    else
      join(ops::concatenate, {{"axis", std::int64_t{0}}}, results, node);
    graph_.scope.clear();
  }

  void join_sum(const Node& node, const std::vector<ValueId>& results) {
    ValueId sum = results[0];
    for (std::size_t k = 1; k + 1 < results.size(); ++k)
      sum = graph_.add1(ops::add, {sum, results[k]});
    join(ops::add, {}, {sum, results.back()}, node);
  }

  // Adds a node that makes the output of the cut node from the fragments.
  void join(const Op& op, const Settings& settings, const std::vector<ValueId>& inputs,
            const Node& cut) {
    graph_.nodes.push_back({.op = &op,
                            .settings = resolve(op.settings, settings, "[" + op.name + "]"),
                            .inputs = inputs,
                            .outputs = {cut.outputs[0]},
                            .name = graph_.scope,
                            .origin = cut.origin});
  }

  Graph& graph_;
  const Backend& backend_;
  std::map<std::tuple<ValueId, std::int64_t, std::int64_t>, ValueId> parts_;
};

}  // namespace

std::vector<BatchFragment> cut_batch(
    std::int64_t batch,
    const std::function<std::vector<FragmentOption>(std::int64_t samples)>& options,
    std::int64_t limit_bytes) {
  // The fastest way to compute a fragment of each size.
  std::map<std::int64_t, FragmentOption> fastest;
  for (std::int64_t samples = 1; samples <= batch; ++samples)
    for (FragmentOption& option : options(samples)) {
      const auto found = fastest.find(samples);
      if (option.scratch_bytes <= limit_bytes &&
          (found == fastest.end() || option.seconds < found->second.seconds))
        fastest[samples] = std::move(option);
    }
  struct Best {
    double seconds = std::numeric_limits<double>::infinity();
    std::int64_t last = 0;  // samples of the last fragment
  };
  std::vector<Best> best(static_cast<std::size_t>(batch) + 1);
  best[0].seconds = 0;
  for (std::int64_t done = 1; done <= batch; ++done)
    for (const auto& [samples, option] : fastest) {
      if (samples > done) break;
      Best& here = best[static_cast<std::size_t>(done)];
      const double seconds =
          best[static_cast<std::size_t>(done - samples)].seconds + option.seconds;
      if (seconds < here.seconds) here = {seconds, samples};
    }
  std::vector<BatchFragment> fragments;
  for (std::int64_t left = batch; left > 0;) {
    const std::int64_t samples = best[static_cast<std::size_t>(left)].last;
    if (samples == 0) return {};
    fragments.push_back({samples, fastest.at(samples).variant});
    left -= samples;
  }
  return fragments;
}

void micro_batch(Graph& graph, const Backend& backend) {
  if (backend.fragment_options) MicroBatches(graph, backend).run();
}

}  // namespace tutti
