// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/payloads/factors.h"

#include "tutti/comm/part.h"
#include "tutti/core/usual_rates.h"
#include "tutti/exchange/blocks.h"
#include "tutti/graph/cost.h"
#include "tutti/graph/node_order.h"
#include "tutti/graph/op.h"
#include "tutti/ops/allgather.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/section.h"
#include "tutti/ops/slice.h"

#include <algorithm>
#include <map>
#include <set>

namespace tutti {
namespace {

bool is_plain_product(const Node& node, bool transpose_a, bool transpose_b) {
  return node.op == &ops::matmul && node.inputs.size() == 2 &&
         node.settings.flag("transpose_a") == transpose_a &&
         node.settings.flag("transpose_b") == transpose_b &&
         node.settings.text("activation") == "none";
}

// A product that makes a gradient, and is to be computed from gathered factors.
struct Product {
  NodeId node = no_node;
  LinearRange layer = {};
  NodeId ready = no_node;             // behind this node both factors are there
  std::vector<NodeId> prepared = {};  // nodes that make its operands of the gathered factors
};

// Rewrites a graph so that gradients are products of gathered factors.
class FactorExchange {
 public:
  FactorExchange(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                 const std::string& axis)
      : graph_(graph),
        order_(graph),
        dtype_(dtype),
        closing_(closing),
        axis_(axis),
        factored_(closing.factored.begin(), closing.factored.end()) {
    for (PartialRange& one : graph.partial)
      if (one.axes == axis) partial_[one.offset] = &one;
    if (!closing.sharded()) return;
    for (const Block& block : blocks_of(table, dtype, closing, [&](const Range&) { return axis; }))
      if (block.factored) own_slots_[block.offset] = block.slot;
  }

  void run(const std::function<bool(const LinearRange&)>& pays) {
    std::vector<Product> products = find(pays);
    for (Product& product : products) gather(product);
    // A product waits until the next one's factors are on their way.
    for (std::size_t k = 0; k < products.size(); ++k) {
      const NodeId moved = products[k].node;
      if (k + 1 < products.size())
        put_behind(moved, products[k + 1].ready);
      else
        order_.move_before(moved, no_node);
      for (const NodeId prepared : products[k].prepared) order_.move_before(prepared, moved);
    }
    order_.apply();
  }

 private:
  Node& node(NodeId id) { return graph_.nodes[static_cast<std::size_t>(id)]; }

  NodeId last_added() const { return static_cast<NodeId>(graph_.nodes.size()) - 1; }

  // The products to change, in the order in which their factors are made.
  std::vector<Product> find(const std::function<bool(const LinearRange&)>& pays) {
    std::vector<Product> products;
    const auto readers = consumers(graph_);
    for (std::size_t id = 0; id < graph_.values.size(); ++id) {
      const Value& value = graph_.values[id];
      if (value.place.base != Base::gradients || value.producer == no_node || !readers[id].empty())
        continue;
      const std::int64_t offset = value.place.offset_bytes / bytes_of(dtype_);
      const Node& product = node(value.producer);
      if (factored_.count(offset) == 0 || partial_.count(offset) == 0 ||
          !is_plain_product(product, true, false))
        continue;
      const Value &dy = graph_.value(product.inputs[0]), &x = graph_.value(product.inputs[1]);
      const LinearRange layer{offset, dy.type.shape[1], x.type.shape[1], dy.type.shape[0]};
      const NodeId ready = std::max(dy.producer, x.producer);
      if (ready != no_node && can_exchange_factors(layer, dtype_, closing_.ranks) && pays(layer))
        products.push_back({value.producer, layer, ready});
    }
    std::stable_sort(products.begin(), products.end(),
                     [](const Product& a, const Product& b) { return a.ready < b.ready; });
    return products;
  }

  void gather(Product& product) {
    graph_.scope = node(product.node).name;
    const std::vector<ValueId> factors = node(product.node).inputs;
    const ValueId gradient = node(product.node).outputs[0];
    const ValueId x = all_rows(factors[1], product);
    ValueId dy = all_rows(factors[0], product);
    if (closing_.sharded()) {
      const std::int64_t own = product.layer.outputs / closing_.ranks, first = closing_.rank * own;
      dy = graph_.add1(ops::slice, {dy}, {{"begin", first}, {"end", first + own}});
      graph_.nodes.back().bound = {{"begin", place_slot, own}, {"end", place_slot, own}};
      product.prepared.push_back(last_added());
      graph_.value(gradient).type.shape[0] = own;
      Place& place = graph_.value(gradient).place;
      place.offset_bytes += first * product.layer.inputs * bytes_of(dtype_);
      place.slot = own_slots_.at(product.layer.offset);
    } else {
      partial_.at(product.layer.offset)->is_summed = true;
    }
    node(product.node).inputs = {dy, x};
    graph_.scope.clear();
  }

  // Gathers a factor's rows from all ranks. The allgather begins when both factors of the product
  // are there, and the product waits for it.
  ValueId all_rows(ValueId rows, Product& product) {
    const Shape shape = graph_.shape(rows);
    const std::int64_t count = elements(shape);
    const ValueId flat = graph_.add1(ops::section, {rows}, {{"shape", Shape{count}}});
    put_behind(last_added(), product.ready);
    const ValueId all = graph_.add1(ops::allgather, {flat},
                                    {{"axes", axis_},
                                     {"part_offset", closing_.rank * count},
                                     {"count", closing_.ranks * count}});
    graph_.nodes.back().bound = {{"part_offset", place_slot, count}};
    put_behind(last_added(), product.ready);
    const ValueId shaped =
        graph_.add1(ops::section, {all}, {{"shape", Shape{closing_.ranks * shape[0], shape[1]}}});
    product.prepared.push_back(last_added());
    return shaped;
  }

  // Moves a node behind `ready`, and behind all nodes that were put there before.
  void put_behind(NodeId moved, NodeId ready) {
    const auto [last, is_first] = last_behind_.try_emplace(ready, ready);
    order_.move_behind(moved, last->second);
    last->second = moved;
  }

  Graph& graph_;
  NodeOrder order_;
  const DType dtype_;
  const StepClosing& closing_;
  const std::string axis_;
  const std::set<std::int64_t> factored_;          // offsets
  std::map<std::int64_t, PartialRange*> partial_;  // by offset: ranges that are partial along axis_
  std::map<std::int64_t, int> own_slots_;          // by offset: slots of a rank's own rows
  std::map<NodeId, NodeId> last_behind_;           // by `ready`: the node put_behind moved last
};

}  // namespace

double factor_elements(const LinearRange& layer, int ranks) {
  return 2.0 * static_cast<double>(layer.rows) * (ranks - 1) *
         static_cast<double>(layer.outputs + layer.inputs);
}

double store_elements(const LinearRange& layer, int ranks, int servers) {
  return 2.0 * static_cast<double>(layer.outputs) * static_cast<double>(layer.inputs) *
         (ranks + servers - 2) / servers;
}

double gradient_words_sent(const LinearRange& layer, int ranks, bool sharded) {
  // A store that is cut over all ranks is a reduce-scatter and an allgather. Half of its words are
  // sent, half are received.
  return store_elements(layer, ranks, ranks) / (sharded ? 4 : 2);
}

double ExchangeTimes::of_factors(const LinearRange& layer, DType dtype) const {
  const int ranks = facts.size;
  double seconds = 0;
  for (const std::int64_t width : {layer.outputs, layer.inputs}) {
    const std::int64_t count = ranks * layer.rows * width;
    const auto chosen = choose(allgathers(), allgather, facts, {.dtype = dtype, .count = count});
    seconds += chosen.seconds(facts.network, ranks, count * bytes_of(dtype), false);
  }
  const double products = static_cast<double>(layer.rows) * static_cast<double>(layer.outputs) *
                          static_cast<double>(layer.inputs);
  return sharded ? seconds : seconds + (ranks - 1) * products / usual::multiply_adds_per_second;
}

double ExchangeTimes::of_gradient(const LinearRange& layer, DType dtype) const {
  const std::int64_t count = layer.outputs * layer.inputs;
  const auto chosen =
      choose(sharded ? reduce_scatters() : allreduces(), sharded ? reduce_scatter : allreduce,
             facts, {.dtype = dtype, .count = count});
  return chosen.seconds(facts.network, facts.size, count * bytes_of(dtype), false);
}

std::vector<LinearRange> linear_ranges(const Graph& forward, const RangeTable& table) {
  std::vector<LinearRange> layers;
  const auto readers = consumers(forward);
  for (const Node& node : forward.nodes) {
    if (!is_plain_product(node, false, true)) continue;
    const Value& weights = forward.value(node.inputs[1]);
    const Shape &x = forward.shape(node.inputs[0]), &w = weights.type.shape;
    if (weights.place.base != Base::weights || w.size() != 2 ||
        readers[static_cast<std::size_t>(node.inputs[1])].size() != 1)
      continue;
    const std::int64_t offset = weights.place.offset_bytes / bytes_of(weights.type.dtype);
    const Range* range = table.at(offset);
    if (range != nullptr && range->trainable && range->count == w[0] * w[1])
      layers.push_back({offset, w[0], w[1], x[0]});
  }
  return layers;
}

bool can_exchange_factors(const LinearRange& layer, DType dtype, int ranks) {
  const auto in_whole_lines = [&](std::int64_t count) {
    return count * bytes_of(dtype) % line_bytes == 0;
  };
  return layer.outputs % ranks == 0 && in_whole_lines(layer.outputs / ranks * layer.inputs) &&
         in_whole_lines(layer.rows * layer.inputs) && in_whole_lines(layer.rows * layer.outputs);
}

void exchange_factors(Graph& graph, const RangeTable& table, DType dtype,
                      const StepClosing& closing, const std::string& axis,
                      const std::function<bool(const LinearRange&)>& pays) {
  FactorExchange(graph, table, dtype, closing, axis).run(pays);
}

bool FactorChoice::pays(const LinearRange& layer, DType dtype) {
  if (payload_.as_factors == nullptr) return false;
  const auto [found, is_new] = pays_.try_emplace({layer.outputs, layer.inputs, layer.rows});
  if (is_new) found->second = payload_.as_factors(layer, dtype, times_);
  return found->second;
}

std::vector<LinearRange> FactorChoice::among(const Graph& forward, const RangeTable& table,
                                             DType dtype, const StepClosing& closing,
                                             std::int64_t batch) {
  std::vector<LinearRange> found;
  if (closing.accumulates || closing.encodes() || closing.update.local.change != nullptr ||
      closing.shards_weights() || batch < closing.ranks || batch % closing.ranks != 0)
    return found;
  for (LinearRange layer : linear_ranges(forward, table)) {
    layer.rows /= closing.ranks;
    if (can_exchange_factors(layer, dtype, closing.ranks) && pays(layer, dtype))
      found.push_back(layer);
  }
  return found;
}

}  // namespace tutti
