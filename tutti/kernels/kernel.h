// SPDX-License-Identifier: Apache-2.0
// The kernel table of a back end: per operator a list of implementations, fastest first, ending in
// the plain reference. Everything is decided when a kernel is made; running it allocates nothing
// and looks up no name.
#pragma once

#include "tutti/core/list.h"
#include "tutti/core/step_state.h"
#include "tutti/graph/backend.h"
#include "tutti/graph/op.h"
#include "tutti/optim/rule.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tutti {

// Pointers for one execution, in the order of the node's inputs and outputs (nullptr: absent).
struct Run {
  void* const* in = nullptr;
  void* const* out = nullptr;
  void* scratch = nullptr;
  const StepState* step = nullptr;
};

using Kernel = std::function<void(const Run&)>;

struct KernelContext {
  int threads = 1;                    // of this rank's team
  const List<Rule>* rules = nullptr;  // for `update`
};

struct Implementation {
  std::string name;  // a variant's, where nodes may ask for one by their setting `variant`
  // Whether this implementation can run the node as it stands (types, settings, ranks).
  bool (*supports)(const Graph&, const Node&) = nullptr;
  // Makes the kernel; called once, when a program is compiled.
  Kernel (*make)(const Graph&, const Node&, const KernelContext&) = nullptr;
  // nullptr: plain everywhere.
  NodeLayouts (*layouts)(const Graph&, const Node&) = nullptr;
  // nullptr: none.
  std::int64_t (*scratch_bytes)(const Graph&, const Node&) = nullptr;
  bool in_place = false;            // honours the operator's in_place pairs
  bool bf16 = false, fp16 = false;  // takes inputs in layouts that store floats so
  // Whether it is the choice for a node that leaves the variant open; nullptr: always.
  bool (*preferred)(const Graph&, const Node&) = nullptr;
  // Whether it can run on the layouts that the values were given; nullptr: on those it asked for.
  bool (*fits)(const Graph&, const Node&) = nullptr;
  std::string doc = {};
};

// The memory of a device, so that nothing above the kernels assumes host pointers.
struct DeviceMemory {
  bool host = true;  // the host may read and write it directly
  std::shared_ptr<std::byte> (*allocate)(std::int64_t bytes) = nullptr;  // zero-filled
  void (*copy_in)(void* device, const void* host, std::int64_t bytes) = nullptr;
  void (*copy_out)(void* host, const void* device, std::int64_t bytes) = nullptr;
  void (*synchronize)() = nullptr;  // waits for everything launched
  bool (*all_finite)(const void* device, DType dtype, std::int64_t count) = nullptr;
};

extern const DeviceMemory host_memory;

// A back end: a name, implementations by operator name, and where memory comes from.
struct KernelTable {
  std::string name;
  DeviceMemory memory = host_memory;
  // Readies the calling thread and its team for rank `rank` of `ranks`, before kernels are made.
  void (*prepare)(int threads, int rank, int ranks) = nullptr;
  bool (*same_bytes)(const Type&, const Layout&, const Layout&) = nullptr;  // nullptr: never
  // The layout in which an implementation (nullptr: none) can read a tensor: as it lies, unless
  // elements of 16 bits must be widened to floats. nullptr: there are none.
  Layout (*readable)(const Implementation*, const Type&, const Layout&) = nullptr;
  // A layout with elements in IEEE half; nullptr: there are none.
  Layout (*narrowed)(const Type&, const Layout&) = nullptr;
  // Throws Error when this machine can't compute in the precision; nullptr: f32 and f64 only.
  void (*require_precision)(const std::string& precision) = nullptr;
  std::map<std::string, std::vector<Implementation>, std::less<>> by_op;

  // The implementation that the node asks for, else the first that is preferred and supports it,
  // else the reference; nullptr when there is none: views and messages are the executor's. Throws
  // Error when the node asks for one that can't run it.
  const Implementation* find(const Graph& graph, const Node& node) const;
  // The same once layouts are given: one that does not run on them is passed over.
  const Implementation* find_laid_out(const Graph& graph, const Node& node) const;
  // The same where there must be one; throws Error.
  const Implementation& choose(const Graph& graph, const Node& node) const;
  // All that support the node, in the order of the table.
  std::vector<const Implementation*> supporting(const Graph& graph, const Node& node) const;
};

// Every operator by its plain reference.
KernelTable reference_kernels();
// oneDNN and own SIMD loops, with the reference where neither applies.
KernelTable cpu_kernels();
// The table called `name` in a recipe.
KernelTable kernels_named(const std::string& name);

// What passes may ask this table. The table must outlive the result.
Backend backend_of(const KernelTable& table);

}  // namespace tutti
