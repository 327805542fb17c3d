// SPDX-License-Identifier: Apache-2.0
// Kernels made of the operators' own plain loops. They define what an operator computes; every
// other kernel is tested against them.
#include "tutti/kernels/reference/reference.h"

#include "tutti/kernels/touched_rows.h"
#include "tutti/kernels/update_call.h"
#include "tutti/ops/update.h"
#include "tutti/optim/loop.h"

#include <cmath>
#include <memory>

namespace tutti {
namespace {

Kernel make_reference(const Graph& graph, const Node& node, const KernelContext&) {
  struct State {
    Settings settings;
    Call call{settings, {}, {}};
  };
  auto state = std::make_shared<State>();
  state->settings = node.settings;
  state->call.origin = node.origin;
  for (ValueId id : node.inputs)
    state->call.in.push_back(
        id == no_value ? Tensor{} : Tensor{graph.type(id).dtype, graph.shape(id), nullptr});
  for (ValueId id : node.outputs)
    state->call.out.push_back({graph.type(id).dtype, graph.shape(id), nullptr});
  return [state, reference = node.op->reference](const KernelArguments& arguments) {
    Call& call = state->call;
    for (std::size_t k = 0; k < call.in.size(); ++k) call.in[k].data = arguments.in[k];
    for (std::size_t k = 0; k < call.out.size(); ++k) call.out[k].data = arguments.out[k];
    call.step = *arguments.step;
    reference(call);
  };
}

// Updates only the rows that an input names, each row once.
Kernel make_update_rows(const Graph& graph, const Node& node, const KernelContext& context) {
  const Rule& rule = context.rules->find(node.settings.text("rule"));
  auto call = std::make_shared<UpdateCall>(graph, node);
  auto rows = std::make_shared<TouchedRows>(call->named_rows());
  return [call, rows, apply = rule.apply](const KernelArguments& arguments) {
    const UpdateArgs all = call->prepare(arguments);
    rows->find(call->rows(arguments));
    double squares = 0;
    dispatch_float(all.dtype, [&](auto zero) {
      using T = decltype(zero);
      for (std::int64_t k = 0; k < rows->count(); ++k) {
        const std::int64_t first = rows->row(k) * call->row_width();
        const T* g = static_cast<const T*>(all.g) + first;
        double sum = 0;
        for (std::int64_t i = 0; i < call->row_width(); ++i)
          sum += static_cast<double>(g[i]) * static_cast<double>(g[i]);
        squares += sum;
        void* states[max_rule_states] = {};
        for (int s = 0; s < call->states(); ++s) states[s] = static_cast<T*>(all.states[s]) + first;
        if (call->may_update() && std::isfinite(sum))
          apply(
              {all.dtype, static_cast<T*>(all.w) + first, g, states, call->row_width(), all.hyper});
      }
    });
    *call->square_sum(arguments) = squares;
  };
}

Kernel make_update(const Graph& graph, const Node& node, const KernelContext& context) {
  if (ops::has_rows(node.settings)) return make_update_rows(graph, node, context);
  const Rule& rule = context.rules->find(node.settings.text("rule"));
  auto call = std::make_shared<UpdateCall>(graph, node);
  return [call, apply = rule.apply](const KernelArguments& arguments) {
    const UpdateArgs args = call->prepare(arguments);
    double sum = 0;
    dispatch_float(args.dtype, [&](auto zero) {
      const auto* g = static_cast<const decltype(zero)*>(args.g);
      for (std::int64_t i = 0; i < args.count; ++i)
        sum += static_cast<double>(g[i]) * static_cast<double>(g[i]);
    });
    *call->square_sum(arguments) = sum;
    if (std::isfinite(sum) && call->may_update()) apply(args);
  };
}

Kernel make_measure(const Graph& graph, const Node& node, const KernelContext& context) {
  const Rule& rule = context.rules->find(node.settings.text("rule"));
  auto call = std::make_shared<UpdateCall>(graph, node);
  return [call, measure = rule.measure](const KernelArguments& arguments) {
    auto* squares = static_cast<double*>(arguments.out[0]);
    squares[0] = squares[1] = 0;
    measure(call->prepare(arguments), squares);
  };
}

bool always(const Graph&, const Node&) { return true; }

const Implementation plain{.name = "reference", .supports = always, .make = make_reference};
const Implementation plain_measure{.name = "reference", .supports = always, .make = make_measure};
const Implementation plain_update{.name = "reference", .supports = always, .make = make_update};

}  // namespace

const Implementation* reference_for(const Op& op) {
  if (&op == &ops::update) return &plain_update;
  if (&op == &ops::measure) return &plain_measure;
  return op.reference == nullptr ? nullptr : &plain;
}

}  // namespace tutti
