// SPDX-License-Identifier: Apache-2.0
// One operator as a program: a graph of one node that the layout and memory passes make ready for a
// back end. Contract tests ask it for results, benches for times.
#pragma once

#include "tutti/exec/program.h"
#include "tutti/graph/verify.h"
#include "tutti/ops/update.h"
#include "tutti/passes/layout.h"
#include "tutti/passes/memory.h"

#include "contract/op_inputs.h"

#include <cstring>
#include <memory>
#include <vector>

namespace tutti::contract {

class OneNode {
 public:
  // `in` gives the types (absent inputs included); the values are set_inputs()'s. Without layouts
  // the kernel runs on row-major tensors.
  OneNode(const Op& op, const Settings& settings, const std::vector<Array>& in,
          const KernelTable& kernels, int threads = 1, bool layouts = true)
      : op_(op), kernels_(kernels), rules_(rules()) {
    Graph graph;
    std::vector<ValueId> ids;
    for (const Array& array : in) ids.push_back(array.absent ? no_value : add_input(graph, array));
    graph.outputs = graph.add(op, ids, settings);
    if (&op == &ops::update) overwrite_inputs(graph, ids);
    const Backend backend = backend_of(kernels_);
    if (layouts) assign_layouts(graph, backend);
    verify(graph, "layout");
    MemoryPlan memory = plan_memory(graph, backend);
    verify(graph, "memory");
    inputs_ = kernels_.device->allocate(input_bytes_);
    arena_ = kernels_.device->allocate(memory.arena_bytes);
    bases_[Base::arena] = arena_.get();
    bases_[Base::inputs] = inputs_.get();
    program_ =
        std::make_unique<Program>(compiled(std::move(graph), std::move(memory), kernels_), kernels_,
                                  KernelContext{.threads = threads, .rules = &rules_});
    set_inputs(in);
  }
  OneNode(const OneNode&) = delete;
  OneNode& operator=(const OneNode&) = delete;

  void set_inputs(const std::vector<Array>& in) {
    std::size_t next = 0;
    for (const Array& array : in)
      if (!array.absent)
        kernels_.device->copy_in(inputs_.get() + offsets_[next++], array.memory.data(),
                                 array.type.bytes());
  }
  void run(const StepState& step = {}, Profile* profile = nullptr) {
    program_->run(bases_, step, profile);
  }
  std::vector<Array> outputs() const {
    const Graph& graph = program_->graph();
    std::vector<Array> result;
    for (ValueId id : graph.outputs) {
      const Value& value = graph.value(id);
      result.push_back(unwritten_array(value.type));
      kernels_.device->copy_out(result.back().memory.data(),
                                bases_[value.place.base] + value.place.offset_bytes,
                                value.type.bytes());
    }
    return result;
  }

  const Program& program() const { return *program_; }
  // The step of the program that is the operator itself; reorders stand around it.
  int step() const {
    for (int i = 0; i < program_->size(); ++i)
      if (program_->graph().nodes[static_cast<std::size_t>(i)].op == &op_) return i;
    return 0;
  }

 private:
  ValueId add_input(Graph& graph, const Array& array) {
    offsets_.push_back(input_bytes_);
    input_bytes_ += (array.type.bytes() + 63) / 64 * 64;
    return graph.add_value("input", array.type, {Base::inputs, offsets_.back()});
  }
  // update(g, w, states…) writes w and states in place.
  static void overwrite_inputs(Graph& graph, const std::vector<ValueId>& ids) {
    for (std::size_t k = 0; k + 1 < graph.outputs.size(); ++k)
      graph.value(graph.outputs[k]).place = graph.value(ids[k + 1]).place;
  }

  const Op& op_;
  const KernelTable& kernels_;
  List<Rule> rules_;
  std::vector<std::int64_t> offsets_;
  std::int64_t input_bytes_ = 64;
  std::shared_ptr<std::byte> inputs_, arena_;
  Bases bases_;
  std::unique_ptr<Program> program_;
};

}  // namespace tutti::contract
