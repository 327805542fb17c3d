// SPDX-License-Identifier: Apache-2.0
#include "tutti/parallel/partition.h"

#include "tutti/graph/carried.h"
#include "tutti/graph/node_order.h"
#include "tutti/graph/op.h"
#include "tutti/graph/samples.h"
#include "tutti/ops/allreduce.h"

#include <map>

namespace tutti {
namespace {

class SamplePartition {
 public:
  SamplePartition(Graph& graph, std::int64_t samples, std::int64_t local)
      : graph_(graph),
        order_(graph),
        samples_(samples),
        local_(local),
        flow_(follow_samples(graph)) {}

  void run(const std::string& axis) {
    for (const SampleObstacle& obstacle : flow_.obstacles) {
      const Node& node = graph_.nodes[static_cast<std::size_t>(obstacle.node)];
      throw Error("[{}] of '{}' {}, so the batch can't be split over ranks", node.op->name,
                  node.name, obstacle.why);
    }
    const std::size_t nodes = graph_.nodes.size(), values = graph_.values.size();
    for (std::size_t i = 0; i < nodes; ++i) sum_inputs(i, axis);
    for (std::size_t id = 0; id < values; ++id) {
      cut(graph_.values[id], flow_.values[id]);
      mark(graph_.values[id], flow_.values[id], axis);
    }
    place_carried(graph_);
    sum_results(axis);
    order_.apply();
  }

 private:
  // The sum over ranks of a summand. The first call adds the allreduce right behind the node that
  // makes the summand.
  ValueId summed(ValueId id, const std::string& axis) {
    if (const auto found = sums_.find(id); found != sums_.end()) return found->second;
    const ValueId sum = graph_.add1(ops::allreduce, {id}, {{"axes", axis}});
    graph_.value(sum).name = graph_.value(id).name;
    order_.insert_behind(graph_.value(id).producer);
    return sums_[id] = sum;
  }

  // Replaces summands among the inputs of node i by their sums, where the node needs these.
  void sum_inputs(std::size_t i, const std::string& axis) {
    if (is_message(graph_.nodes[i]) || !flow_.needs_sums(graph_.nodes[i])) return;
    for (std::size_t k = 0; k < graph_.nodes[i].inputs.size(); ++k) {
      const ValueId id = graph_.nodes[i].inputs[k];
      if (id == no_value || flow_.of(id).kind != SampleShare::summand) continue;
      const ValueId sum = summed(id, axis);  // adds a node, which may move graph_.nodes
      graph_.nodes[i].inputs[k] = sum;
    }
  }

  // Cuts the dimension of a value that has the samples. It may merge samples with another index
  // (n·t), or have one place for several samples: it is cut in proportion.
  void cut(Value& value, const SampleShare& share) const {
    if (share.kind != SampleShare::split) return;
    std::int64_t& extent = value.type.shape[share.dimension];
    if (extent * local_ % samples_ != 0)
      throw Error("'{}': {} groups of samples can't be cut where {} of {} samples end", value.name,
                  extent, local_, samples_);
    extent = extent * local_ / samples_;
  }

  // Marks a range of the gradient that holds only this rank's summand.
  void mark(const Value& value, const SampleShare& share, const std::string& axis) {
    if (value.place.base != Base::gradients || share.kind != SampleShare::summand) return;
    graph_.partial.push_back(
        {value.place.offset_bytes / bytes_of(value.type.dtype), elements(value.type.shape), axis});
  }

  // Scalars that the host reads are summed in the graph, each as soon as it is made.
  void sum_results(const std::string& axis) {
    for (ValueId& id : graph_.results) {
      if (flow_.of(id).kind != SampleShare::summand) continue;
      const Place place = graph_.value(id).place;
      graph_.value(id).place = {};
      id = summed(id, axis);
      graph_.value(id).place = place;
    }
  }

  Graph& graph_;
  NodeOrder order_;
  std::int64_t samples_, local_;
  const SampleFlow flow_;            // of the graph as it was given
  std::map<ValueId, ValueId> sums_;  // the sum over ranks of each summand that is needed whole
};

}  // namespace

void partition_samples(Graph& graph, std::int64_t samples, std::int64_t local_samples) {
  SamplePartition(graph, samples, local_samples).run(data_axis);
}

}  // namespace tutti
