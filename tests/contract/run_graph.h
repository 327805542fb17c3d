// SPDX-License-Identifier: Apache-2.0
// Runs a graph through the passes on a back end, next to contract::evaluate(), which gives its
// meaning.
#pragma once

#include "tutti/exec/program.h"
#include "tutti/kernels/selection.h"
#include "tutti/passes/pass.h"

#include "contract/interpreter.h"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace tutti::contract {

struct GraphRun {
  std::vector<Array> outputs;                // of graph.outputs
  std::vector<std::string> implementations;  // "max_pool simd", in the order they ran
};

// `feeds` are the values without producer that nodes read.
inline GraphRun run_graph(Graph graph, const Values& feeds, const KernelTable& kernels,
                          int threads = 1, const std::set<std::string>& without = {},
                          const Selection& selection = {}) {
  std::int64_t bytes = 0;
  for (const auto& [id, array] : feeds) {
    graph.value(id).place = {Base::inputs, bytes};
    bytes += (array.type.bytes() + 63) / 64 * 64;
  }
  const auto inputs = kernels.device->allocate(bytes);
  for (const auto& [id, array] : feeds)
    kernels.device->copy_in(inputs.get() + graph.value(id).place.offset_bytes, array.memory.data(),
                            array.type.bytes());
  const Backend backend = backend_of(kernels, selection);
  PassContext context{.backend = backend};
  PassRunner(without).run_all(graph, context);
  const auto arena = kernels.device->allocate(context.memory.arena_bytes);
  // What earlier steps left: NaN, which nobody may read.
  const std::vector<std::byte> left(static_cast<std::size_t>(context.memory.arena_bytes),
                                    std::byte{0xff});
  kernels.device->copy_in(arena.get(), left.data(), context.memory.arena_bytes);
  Bases bases;
  bases[Base::arena] = arena.get();
  bases[Base::inputs] = inputs.get();
  Program program(compiled(std::move(graph), std::move(context.memory), kernels), kernels,
                  {.threads = threads});
  program.run(bases, {});
  GraphRun result;
  for (ValueId id : program.graph().outputs) {
    const Value& value = program.graph().value(id);
    result.outputs.push_back(unwritten_array(value.type));
    kernels.device->copy_out(result.outputs.back().memory.data(),
                             bases[value.place.base] + value.place.offset_bytes,
                             value.type.bytes());
  }
  for (int i = 0; i < program.size(); ++i)
    result.implementations.push_back(program.graph().nodes[static_cast<std::size_t>(i)].op->name +
                                     " " + program.implementation(i));
  return result;
}

}  // namespace tutti::contract
