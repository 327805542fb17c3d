// SPDX-License-Identifier: Apache-2.0
// One way to compute an operator. Everything is decided when its kernel is made; a call of the
// kernel allocates nothing and looks up no name.
#pragma once

#include "tutti/core/device.h"
#include "tutti/core/list.h"
#include "tutti/core/step_state.h"
#include "tutti/graph/backend.h"
#include "tutti/graph/op.h"
#include "tutti/optim/rule.h"

#include <functional>
#include <string>

namespace tutti {

// What a kernel is called with: pointers in the order of the node's inputs and outputs (nullptr:
// absent), all to memory of the device. On a stream the kernel may run after the call has returned,
// so it must copy this struct and the arrays of pointers.
struct KernelArguments {
  void* const* in = nullptr;
  void* const* out = nullptr;
  void* scratch = nullptr;
  const StepState* step = nullptr;
  // nullptr: the device has no streams, and the kernel is done when the call returns.
  DeviceStream* stream = nullptr;
};

using Kernel = std::function<void(const KernelArguments&)>;

// What a kernel may know when it is made.
struct KernelContext {
  int threads = 1;                    // threads of the rank's team
  const List<Rule>* rules = nullptr;  // the update rules that `update` and `measure` may name
  Streams streams = {};               // streams of the rank
};

struct Implementation {
  // Nodes with a setting `variant` may ask for this implementation by its name.
  std::string name;
  // Whether this implementation can run the node as it stands (types, settings, shapes).
  bool (*supports)(const Graph&, const Node&) = nullptr;
  // Makes the kernel; called once, when a program is compiled.
  Kernel (*make)(const Graph&, const Node&, const KernelContext&) = nullptr;
  // The layouts that the implementation wants for inputs and outputs; nullptr: all plain.
  NodeLayouts (*layouts)(const Graph&, const Node&) = nullptr;
  // The scratch memory that the kernel needs; nullptr: none.
  std::int64_t (*scratch_bytes)(const Graph&, const Node&) = nullptr;
  bool in_place = false;  // outputs may overwrite inputs, as the operator's in_place pairs say
  bool bf16 = false, fp16 = false;  // takes inputs in layouts that store floats in these 16 bits
  // Whether the implementation may be chosen for a node that leaves its variant open; nullptr:
  // always.
  bool (*preferred)(const Graph&, const Node&) = nullptr;
  // Whether the implementation can run on the layouts that the node's values have; nullptr: it can.
  bool (*fits)(const Graph&, const Node&) = nullptr;
  std::string doc = {};
  std::string device = "host";  // name of the device whose memory and streams it works on
};

}  // namespace tutti
