// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/fuse.h"

#include "tutti/graph/node_order.h"
#include "tutti/graph/op.h"
#include "tutti/ops/add.h"
#include "tutti/ops/bias.h"
#include "tutti/ops/channel_sums.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/gelu.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/max_pool.h"
#include "tutti/ops/normalise.h"
#include "tutti/ops/relu.h"
#include "tutti/ops/sigmoid.h"
#include "tutti/ops/tanh.h"
#include "tutti/passes/dead_code.h"
#include "tutti/passes/rewriting.h"

#include <algorithm>
#include <optional>

namespace tutti {
namespace {

constexpr std::size_t bias_input = 2;

using Users = std::vector<std::vector<NodeId>>;

bool is_producer(const Node& node) {
  return node.op == &ops::convolution || node.op == &ops::matmul || node.op == &ops::normalise;
}

std::size_t residual_input(const Node& producer) {
  return producer.op == &ops::normalise ? ops::normalise_residual : 3;
}

const Node* producer_of(const Graph& graph, ValueId id) {
  const NodeId producer = id == no_value ? no_node : graph.value(id).producer;
  return producer == no_node ? nullptr : &graph.nodes[static_cast<std::size_t>(producer)];
}

const Node* producer_of(const Graph& graph, ValueId id, const Op& op) {
  const Node* node = producer_of(graph, id);
  return node != nullptr && node->op == &op ? node : nullptr;
}

ValueId input(const Node& node, std::size_t k) {
  return k < node.inputs.size() ? node.inputs[k] : no_value;
}

void set_input(Node& node, std::size_t k, ValueId id) {
  node.inputs.resize(std::max(node.inputs.size(), k + 1), no_value);
  node.inputs[k] = id;
}

// `producer` with `next` folded in, or nothing when they can't be folded.
std::optional<Node> folded(const Graph& graph, const Node& producer, const Node& next) {
  Node result = producer;
  if (producer.settings.text("activation") != "none") return std::nullopt;
  const ValueId y = producer.outputs[0];
  if (next.op == &ops::bias && producer.op != &ops::normalise) {
    const auto rank = static_cast<std::int64_t>(graph.shape(y).size());
    const std::int64_t axis = next.settings.integer("axis");
    const std::int64_t wanted = producer.op == &ops::convolution ? 1 : rank - 1;
    if ((axis < 0 ? axis + rank : axis) != wanted || input(producer, bias_input) != no_value ||
        input(producer, residual_input(producer)) != no_value)
      return std::nullopt;
    set_input(result, bias_input, next.inputs[1]);
  } else if (next.op == &ops::add) {
    const ValueId residual = next.inputs[next.inputs[0] == y ? 1 : 0];
    // A product may write partial sums into its result before it reads the residual, so the
    // residual must not lie in the same memory.
    const Place &read = graph.value(residual).place, &written = graph.value(next.outputs[0]).place;
    const bool in_place = written.base != Base::arena && read == written;
    if (input(producer, residual_input(producer)) != no_value || in_place ||
        next.inputs[0] == next.inputs[1])
      return std::nullopt;
    set_input(result, residual_input(producer), residual);
  } else if (next.op == &ops::relu || next.op == &ops::sigmoid || next.op == &ops::tanh ||
             next.op == &ops::gelu) {
    result.settings.set("activation", next.op->name);
  } else {
    return std::nullopt;
  }
  result.outputs = next.outputs;
  return result;
}

// Tries to fold node i into a product, convolution or normalisation that makes one of its inputs;
// true when the graph changed.
bool fold_into_producer(Rewriting& rewriting, std::size_t i, const Backend& backend) {
  Graph& graph = rewriting.graph();
  const Node& next = graph.nodes[i];
  for (ValueId id : next.inputs) {
    if (id == no_value || graph.value(id).producer == no_node) continue;
    if (graph.value(id).place.base != Base::arena || rewriting.users(id).size() != 1) continue;
    const auto p = static_cast<std::size_t>(graph.value(id).producer);
    if (!is_producer(graph.nodes[p])) continue;
    if (std::count(graph.outputs.begin(), graph.outputs.end(), id) > 0) continue;
    const std::optional<Node> candidate = folded(graph, graph.nodes[p], next);
    if (!candidate || !backend.fusible(graph, *candidate)) continue;
    rewriting.remove(p);
    rewriting.replace(i, *candidate);
    return true;
  }
  return false;
}

// convolution_grad_weight(x, dy) and bias_grad(dy) read the same dy: one kernel makes both.
bool fold_bias_gradient(Rewriting& rewriting, std::size_t i, const Backend& backend) {
  Graph& graph = rewriting.graph();
  const Node& weight = graph.nodes[i];
  if (weight.op != &ops::convolution_grad_weight || weight.settings.flag("with_bias")) return false;
  for (const NodeId user : rewriting.users(weight.inputs[1])) {
    const auto k = static_cast<std::size_t>(user);
    const Node& bias = graph.nodes[k];
    if (bias.op != &ops::bias_grad || bias.inputs[0] != weight.inputs[1] ||
        bias.settings.integer("axis") != 1)
      continue;
    Node both = weight;
    both.settings.set("with_bias", true);
    both.outputs.push_back(bias.outputs[0]);
    if (!backend.fusible(graph, both)) continue;
    const std::size_t first = std::min(i, k), last = std::max(i, k);
    // The joined node takes the place of the first of the two, where x and dy must already be
    // there.
    const NodeId x = graph.value(weight.inputs[0]).producer;
    if (x >= static_cast<NodeId>(first)) continue;
    rewriting.remove(last);
    rewriting.replace(first, std::move(both));
    return true;
  }
  return false;
}

// relu_grad(max_pool_grad(dy, index), y) = max_pool_grad(relu_grad(dy, pooled y), index): the
// maximum that receives the gradient is positive exactly when the pooled value is. The pooled
// tensor is the smaller one.
bool move_relu_gradient_before_pool(Rewriting& rewriting, std::size_t i) {
  Graph& graph = rewriting.graph();
  const Node& relu = graph.nodes[i];
  if (relu.op != &ops::relu_grad || graph.value(relu.inputs[0]).producer == no_node) return false;
  const ValueId between = relu.inputs[0], y = relu.inputs[1];
  const auto p = static_cast<std::size_t>(graph.value(between).producer);
  const Node& unpool = graph.nodes[p];
  if (unpool.op != &ops::max_pool_grad || rewriting.users(between).size() != 1) return false;
  const NodeId pool = graph.value(unpool.inputs[1]).producer;
  if (pool == no_node || graph.nodes[static_cast<std::size_t>(pool)].inputs[0] != y) return false;

  const ValueId pooled = graph.nodes[static_cast<std::size_t>(pool)].outputs[0];
  const ValueId masked = graph.add_value("", graph.type(unpool.inputs[0]));
  const ValueId dx = relu.outputs[0];
  Node first = relu, second = unpool;
  std::swap(first.origin, second.origin);
  first.inputs = {unpool.inputs[0], pooled};
  first.outputs = {masked};
  second.inputs[0] = masked;
  second.outputs = {dx};
  rewriting.replace(p, std::move(first));
  rewriting.replace(i, std::move(second));
  return true;
}

// Whether both values hold the same numbers: one may be the other computed again.
bool same(const Graph& graph, ValueId a, ValueId b) {
  const Node *first = producer_of(graph, a), *second = producer_of(graph, b);
  if (a == b || first == nullptr || second == nullptr) return a == b;
  const auto position = [](const Node& node, ValueId id) {
    return std::find(node.outputs.begin(), node.outputs.end(), id) - node.outputs.begin();
  };
  return first->op == second->op && first->origin == second->origin &&
         first->settings == second->settings &&
         graph.types(first->inputs) == graph.types(second->inputs) &&
         position(*first, a) == position(*second, b);
}

// The forward node that normalised x with this mean, or nullptr.
const Node* normalisation_of(const Rewriting& rewriting, ValueId x, ValueId mean) {
  const Graph& graph = rewriting.graph();
  for (NodeId user : rewriting.users(mean)) {
    const Node& node = graph.nodes[static_cast<std::size_t>(user)];
    if (node.op == &ops::normalise && node.inputs[1] == mean && same(graph, node.inputs[0], x))
      return &node;
  }
  return nullptr;
}

// Where x has a third reader, its gradient is (other + normalise_grad_input) + channel_sums_grad.
// This reorders the sum so that the last two are added first and can be joined.
void pair_normalise_gradient(Graph& graph, std::size_t i, const Users& users, NodeOrder& order) {
  Node& sum = graph.nodes[i];
  if (sum.op != &ops::add) return;
  for (const std::size_t k : {0, 1}) {
    const ValueId before = sum.inputs[k], through = sum.inputs[1 - k];
    if (producer_of(graph, before, ops::add) == nullptr ||
        producer_of(graph, through, ops::channel_sums_grad) == nullptr ||
        users[static_cast<std::size_t>(before)].size() != 1)
      continue;
    const NodeId earlier = graph.value(before).producer;
    Node& pair = graph.nodes[static_cast<std::size_t>(earlier)];
    for (const std::size_t j : {0, 1}) {
      const ValueId direct = pair.inputs[j], other = pair.inputs[1 - j];
      if (producer_of(graph, direct, ops::normalise_grad_input) == nullptr) continue;
      pair.inputs = {direct, through};
      sum.inputs = {other, before};
      order.move_before(earlier, static_cast<NodeId>(i));
      return;
    }
  }
}

// Pairs the gradients of all normalisations. The number of readers of a value does not change by
// this, so `users` stays valid.
void pair_normalise_gradients(Graph& graph) {
  const Users users = consumers(graph);
  NodeOrder order(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    pair_normalise_gradient(graph, i, users, order);
  order.apply();
}

// Replaces add(normalise_grad_input(dy), channel_sums_grad(x)), the two branches of the gradient of
// a normalisation, by normalise_grad, which reads the images once.
bool join_normalise_gradient(Rewriting& rewriting, std::size_t i) {
  const Graph& graph = rewriting.graph();
  const Node& sum = graph.nodes[i];
  if (sum.op != &ops::add) return false;
  for (const std::size_t k : {0, 1}) {
    const Node* direct = producer_of(graph, sum.inputs[k], ops::normalise_grad_input);
    const Node* through = producer_of(graph, sum.inputs[1 - k], ops::channel_sums_grad);
    if (direct == nullptr || through == nullptr) continue;
    const Node* sums_grad = producer_of(graph, through->inputs[1], ops::channel_statistics_grad);
    if (sums_grad == nullptr) continue;
    const Node* statistics =
        producer_of(graph, sums_grad->inputs[0], ops::normalise_grad_statistics);
    if (statistics == nullptr || statistics->inputs[1] != direct->inputs[1]) continue;
    // The sums, added over ranks where there are several ranks.
    const ValueId total = statistics->inputs[0];
    const Node* reduced = producer_of(graph, total);
    if (reduced != nullptr && reduced->op->message.kind == MessageKind::allreduce)
      reduced = producer_of(graph, reduced->inputs[0]);
    if (reduced == nullptr || reduced->op != &ops::normalise_sums ||
        reduced->inputs[0] != direct->inputs[0] || reduced->inputs[1] != through->inputs[0])
      continue;
    const ValueId x = reduced->inputs[1], mean = reduced->inputs[2];
    const Node* forward = normalisation_of(rewriting, x, mean);
    if (forward == nullptr) continue;
    Node both = sum;
    both.op = &ops::normalise_grad;
    both.settings = resolve(ops::normalise_grad.settings,
                            {{"group", direct->settings.integer("group")},
                             {"epsilon", direct->settings.real("epsilon")}},
                            "normalise_grad");
    both.inputs = {direct->inputs[0],  x,    mean, forward->inputs[2], forward->inputs[3],
                   forward->inputs[4], total};
    rewriting.replace(i, std::move(both));
    return true;
  }
  return false;
}

// Folds relu_grad(dy, y) into the gradient of a normalisation with fused ReLU: whether y was
// positive is computed again from x, so y is not read and the masked gradient is not written.
void fold_relu_gradient(Rewriting& rewriting, std::size_t i) {
  const Graph& graph = rewriting.graph();
  const Node& relu = graph.nodes[i];
  if (relu.op != &ops::relu_grad) return;
  const Node* forward = producer_of(graph, relu.inputs[1], ops::normalise);
  if (forward == nullptr || input(*forward, ops::normalise_residual) != no_value ||
      forward->settings.text("activation") != "relu")
    return;
  const auto reads_same_x = [&](const Node& node) {
    return (node.op == &ops::normalise_sums || node.op == &ops::normalise_grad) &&
           same(graph, node.inputs[1], forward->inputs[0]) &&
           node.settings.text("activation") == "none";
  };
  const std::vector<NodeId> readers = rewriting.users(relu.outputs[0]);
  if (readers.empty() || !std::all_of(readers.begin(), readers.end(), [&](NodeId id) {
        return reads_same_x(graph.nodes[static_cast<std::size_t>(id)]);
      }))
    return;
  for (NodeId id : readers) {
    Node reader = graph.nodes[static_cast<std::size_t>(id)];
    reader.inputs[0] = relu.inputs[0];
    reader.settings.set("activation", "relu");
    if (reader.op == &ops::normalise_sums) {
      reader.inputs.push_back(forward->inputs[3]);
      reader.inputs.push_back(forward->inputs[4]);
    }
    rewriting.replace(static_cast<std::size_t>(id), std::move(reader));
  }
  rewriting.remove(i);
}

void fold_nodes(Graph& graph, const Backend& backend) {
  Rewriting rewriting(graph);
  // A folded node takes the place of the second of the two, so the next node of a chain comes
  // later.
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    while (!rewriting.is_removed(i) &&
           (fold_into_producer(rewriting, i, backend) ||
            move_relu_gradient_before_pool(rewriting, i) ||
            fold_bias_gradient(rewriting, i, backend) || join_normalise_gradient(rewriting, i))) {
    }
  rewriting.apply();
}

void fold_relu_gradients(Graph& graph) {
  Rewriting rewriting(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!rewriting.is_removed(i)) fold_relu_gradient(rewriting, i);
  rewriting.apply();
}

}  // namespace

void fuse(Graph& graph, const Backend& backend) {
  pair_normalise_gradients(graph);
  fold_nodes(graph, backend);
  remove_dead_code(graph);  // the nodes that normalise_grad replaced
  fold_relu_gradients(graph);
}

}  // namespace tutti
