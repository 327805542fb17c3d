// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/trial.h"

#include "tutti/core/rng.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/copy.h"

#include <algorithm>
#include <chrono>

namespace tutti {
namespace {

double now_ms() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

NodeLayouts neighbour_layouts(const KernelTable& table, const Graph& graph, const Node& node) {
  NodeLayouts layouts;
  for (const Implementation* one : table.supporting(graph, node))
    if (one->layouts != nullptr) {
      layouts = one->layouts(graph, node);
      break;
    }
  layouts.inputs.resize(node.inputs.size());
  layouts.outputs.resize(node.outputs.size());
  if (node.op == &ops::convolution_grad_weight)
    layouts.outputs[0] = {};
  else
    layouts.inputs[1] = {};
  return layouts;
}

Trial::Trial(const KernelTable& table, const Graph& graph, const Node& node,
             const Implementation& implementation, const NodeLayouts& neighbours)
    : table_(table), implementation_(implementation) {
  Node main = node;
  NodeLayouts wanted;
  if (implementation.layouts != nullptr) wanted = implementation.layouts(graph, node);
  wanted.inputs.resize(node.inputs.size());
  wanted.outputs.resize(node.outputs.size());
  const auto add = [&](ValueId original, const Layout& layout) {
    const ValueId id = graph_.add_value("", graph.type(original));
    graph_.value(id).layout = layout;
    return id;
  };
  const auto reorder = [&](ValueId from, ValueId to) {
    if (!(graph_.value(from).layout == graph_.value(to).layout) &&
        !(table.same_bytes != nullptr &&
          table.same_bytes(graph_.type(from), graph_.value(from).layout, graph_.value(to).layout)))
      graph_.nodes.push_back(
          {.op = &ops::reorder, .settings = {}, .inputs = {from}, .outputs = {to}, .name = {}});
  };
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    if (node.inputs[k] == no_value) continue;
    main.inputs[k] = add(node.inputs[k], wanted.inputs[k]);
    reorder(add(node.inputs[k], neighbours.inputs[k]), main.inputs[k]);
  }
  for (std::size_t k = 0; k < node.outputs.size(); ++k)
    main.outputs[k] = add(node.outputs[k], wanted.outputs[k]);
  main_ = graph_.nodes.size();
  graph_.nodes.push_back(main);
  for (std::size_t k = 0; k < node.outputs.size(); ++k)
    reorder(main.outputs[k], add(node.outputs[k], neighbours.outputs[k]));
  if (implementation.scratch_bytes != nullptr)
    scratch_bytes_ = implementation.scratch_bytes(graph_, main);
}

void Trial::prepare(const KernelContext& context) {
  const Device& device = *table_.device;
  for (const Value& value : graph_.values) {
    memory_.push_back(device.allocate(value.bytes()));
    std::vector<float> floats(static_cast<std::size_t>(value.bytes() / 4));
    for (std::size_t i = 0; i < floats.size(); ++i)
      floats[i] = static_cast<float>(uniform(1, static_cast<std::uint64_t>(i))) - 0.5f;
    device.copy_in(memory_.back().get(), floats.data(), value.bytes() / 4 * 4);
  }
  const StepState state;
  state_ = device.allocate(sizeof state);
  device.copy_in(state_.get(), &state, sizeof state);
  stream_ = context.streams.compute != nullptr ? context.streams.compute : device.make_stream();
  scratch_ = device.allocate(scratch_bytes_);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    const Implementation& chosen = i == main_ ? implementation_ : table_.choose(graph_, node);
    BoundKernel bound{.kernel = chosen.make(graph_, node, context), .in = {}, .out = {}};
    const auto pointer = [&](ValueId id) -> void* {
      return id == no_value ? nullptr : memory_[static_cast<std::size_t>(id)].get();
    };
    for (ValueId id : node.inputs) bound.in.push_back(pointer(id));
    for (ValueId id : node.outputs) bound.out.push_back(pointer(id));
    kernels_.push_back(std::move(bound));
  }
}

void Trial::run() {
  for (const BoundKernel& bound : kernels_)
    bound.kernel({.in = bound.in.data(),
                  .out = bound.out.data(),
                  .scratch = scratch_.get(),
                  .step = reinterpret_cast<const StepState*>(state_.get()),
                  .stream = stream_.get()});
  table_.device->synchronize();
}

double Trial::measure_ms(const KernelContext& context, double give_up_ms) {
  constexpr int repeats = 7;
  constexpr double enough_ms = 300;
  if (kernels_.empty()) prepare(context);
  run();  // not measured: touches the memory
  std::vector<double> samples;
  const double started = now_ms();
  while (static_cast<int>(samples.size()) < repeats &&
         (samples.size() < 3 || now_ms() - started < enough_ms)) {
    const double before = now_ms();
    run();
    samples.push_back(now_ms() - before);
    if (samples.size() == 1 && samples[0] > give_up_ms) break;
  }
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace tutti
