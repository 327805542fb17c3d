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
// absent), all of them to memory of the device. On a stream the kernel may run after the call has
// returned, so it copies the arguments themselves.
struct KernelArguments {
  void* const* in = nullptr;
  void* const* out = nullptr;
  void* scratch = nullptr;
  const StepState* step = nullptr;
  DeviceStream* stream = nullptr;  // nullptr: the device does all at once
};

using Kernel = std::function<void(const KernelArguments&)>;

struct KernelContext {
  int threads = 1;                    // of the rank's team
  const List<Rule>* rules = nullptr;  // that `update` and `measure` may name
  Streams streams = {};               // of the rank
};

struct Implementation {
  std::string name;  // a variant's, where nodes may ask for one by their setting `variant`
  // Whether this implementation can run the node as it stands (types, settings, ranks).
  bool (*supports)(const Graph&, const Node&) = nullptr;
  // Makes the kernel; called once, when a program is compiled.
  Kernel (*make)(const Graph&, const Node&, const KernelContext&) = nullptr;
  // The layouts that it wants its inputs and outputs in; nullptr: all plain.
  NodeLayouts (*layouts)(const Graph&, const Node&) = nullptr;
  // The scratch memory that it needs; nullptr: none.
  std::int64_t (*scratch_bytes)(const Graph&, const Node&) = nullptr;
  bool in_place = false;            // honours the operator's in_place pairs
  bool bf16 = false, fp16 = false;  // takes inputs in layouts that store floats so
  // Whether it is the choice for a node that leaves the variant open; nullptr: always.
  bool (*preferred)(const Graph&, const Node&) = nullptr;
  // Whether it can run on the layouts that the values were given; nullptr: on those it asked for.
  bool (*fits)(const Graph&, const Node&) = nullptr;
  std::string doc = {};
  std::string device = "host";  // by name: whose memory and streams it works on
};

}  // namespace tutti
