// SPDX-License-Identifier: Apache-2.0
// The kernels of the deferred back end: the plain references, which run when the stream reaches
// them.
#include "tutti/kernels/backends.h"
#include "tutti/kernels/deferred/device.h"
#include "tutti/kernels/deferred/memory.h"
#include "tutti/kernels/reference/reference.h"

#include <vector>

namespace tutti {
namespace {

using deferred::untagged;

// A copy of the arguments of a launch, since the originals are gone when the kernel runs.
struct Launched {
  Launched(const KernelArguments& arguments, std::size_t inputs, std::size_t outputs)
      : in(arguments.in, arguments.in + inputs),
        out(arguments.out, arguments.out + outputs),
        scratch(untagged(static_cast<std::byte*>(arguments.scratch))),
        step(untagged(arguments.step)) {
    for (void*& pointer : in) pointer = untagged(static_cast<std::byte*>(pointer));
    for (void*& pointer : out) pointer = untagged(static_cast<std::byte*>(pointer));
  }

  std::vector<void*> in, out;
  void* scratch;
  const StepState* step;
};

Kernel make_kernel(const Graph& graph, const Node& node, const KernelContext& context) {
  auto plain = std::make_shared<Kernel>(reference_for(*node.op)->make(graph, node, context));
  return [plain, inputs = node.inputs.size(),
          outputs = node.outputs.size()](const KernelArguments& arguments) {
    deferred::launch(arguments.stream, [plain, launched = Launched(arguments, inputs, outputs)] {
      (*plain)({.in = launched.in.data(),
                .out = launched.out.data(),
                .scratch = launched.scratch,
                .step = launched.step});
    });
  };
}

const Implementation* deferred_for(const Op& op) {
  static const Implementation later{.name = "deferred",
                                    .supports = [](const Graph&, const Node&) { return true; },
                                    .make = make_kernel,
                                    .device = "deferred"};
  return reference_for(op) == nullptr ? nullptr : &later;
}

}  // namespace

KernelTable deferred_kernels() {
  KernelTable table;
  table.name = "deferred";
  table.device = deferred_device(0);
  table.last_resort = deferred_for;
  return table;
}

std::shared_ptr<const Device> deferred_device(int index) { return deferred::make_device(index); }

}  // namespace tutti
