// SPDX-License-Identifier: Apache-2.0
// The kernel table of a back end: per operator a list of implementations, fastest first, and for
// all of them one last resort. All work on the memory of one device.
#pragma once

#include "tutti/core/device.h"
#include "tutti/kernels/implementation.h"
#include "tutti/kernels/reference/reference.h"

#include <map>
#include <string>
#include <vector>

namespace tutti {

// A back end: a name, implementations by operator name, and the device that they run on.
struct KernelTable {
  std::string name;
  std::shared_ptr<const Device> device = host_device();
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
  // For what is not in by_op or none of it takes; nullptr: there is none.
  const Implementation* (*last_resort)(const Op&) = reference_for;

  // The implementation that the node asks for, else the first that is preferred and supports it,
  // else the last resort; nullptr when there is none: views and messages are the executor's. Throws
  // Error when the node asks for one that can't run it, and when what is found works on the memory
  // of another device.
  const Implementation* find(const Graph& graph, const Node& node) const;
  // The same once layouts are given: one that does not run on them is passed over.
  const Implementation* find_laid_out(const Graph& graph, const Node& node) const;
  // The same where there must be one; throws Error.
  const Implementation& choose(const Graph& graph, const Node& node) const;
  // All that support the node, in the order of the table.
  std::vector<const Implementation*> supporting(const Graph& graph, const Node& node) const;
};

// What passes may ask this table. The table must outlive the result.
Backend backend_of(const KernelTable& table);

}  // namespace tutti
