// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/node_timer.h"

#include "tutti/core/clock.h"
#include "tutti/ops/update.h"
#include "tutti/passes/pass.h"

#include <sys/resource.h>

#include <algorithm>

namespace tutti {
namespace {

// How often another program was given a core of ours.
long preemptions() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// Floats between 1 and 1.5, so that nothing overflows or becomes denormal; integers 0.
void fill(const KernelTable& kernels, std::byte* to, const Value& value) {
  std::vector<float> numbers(static_cast<std::size_t>((value.bytes() + 3) / 4), 0.0f);
  if (is_float(value.type.dtype))
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = 1 + static_cast<float>(i % 61) / 122;
  kernels.device->copy_in(to, numbers.data(), value.bytes());
}

// update(g, w, states…) writes w and states in place.
void overwrite_in_place(Graph& graph) {
  for (const Node& node : graph.nodes)
    if (node.op == &ops::update)
      for (std::size_t k = 0; k + 1 < node.outputs.size(); ++k)
        graph.value(node.outputs[k]).place = graph.value(node.inputs[k + 1]).place;
}

}  // namespace

NodeTimer::NodeTimer(Graph graph, const KernelTable& kernels, int threads) : rules_(rules()) {
  constexpr std::int64_t line = 64;
  std::vector<ValueId> fed;
  std::int64_t input_bytes = 0;
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    Value& value = graph.values[id];
    if (value.producer != no_node) continue;
    value.place = {Base::inputs, input_bytes};
    input_bytes += (value.bytes() + line - 1) / line * line;
    fed.push_back(static_cast<ValueId>(id));
  }
  overwrite_in_place(graph);
  const Backend backend = backend_of(kernels);
  PassContext context{.backend = backend};
  PassRunner().run_all(graph, context);
  inputs_ = kernels.device->allocate(std::max(input_bytes, line));
  for (const ValueId id : fed)
    fill(kernels, inputs_.get() + graph.value(id).place.offset_bytes, graph.value(id));
  arena_ = kernels.device->allocate(context.memory.arena_bytes);
  bases_[Base::arena] = arena_.get();
  bases_[Base::inputs] = inputs_.get();
  program_ =
      std::make_unique<Program>(compiled(std::move(graph), std::move(context.memory), kernels),
                                kernels, KernelContext{.threads = threads, .rules = &rules_});
}

std::vector<double> NodeTimer::measure(int runs, double enough_seconds) {
  const StepState step{.step = 1, .key = 1, .rate = 1e-6};
  program_->run(bases_, step);  // touches the memory
  std::vector<double> least(static_cast<std::size_t>(program_->size()), 1e300);
  const double started = steady_seconds(), patience = 10 * enough_seconds;
  int runs_left = runs;
  disturbed_ = true;
  for (double elapsed = 0; runs_left > 0 || elapsed < enough_seconds;) {
    const long before = preemptions();
    Profile profile;
    program_->run(bases_, step, &profile);
    for (std::size_t i = 0; i < least.size(); ++i)
      least[i] = std::min(least[i], profile.seconds[i]);
    elapsed = steady_seconds() - started;
    const bool quiet = preemptions() == before;
    if (quiet || elapsed > patience) --runs_left;
    if (quiet) disturbed_ = false;
  }
  return least;
}

}  // namespace tutti
