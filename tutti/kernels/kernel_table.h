// SPDX-License-Identifier: Apache-2.0
// The kernel table of a back end: for each operator a list of implementations, fastest first, and
// one last resort for all operators. All implementations work on the memory of one device.
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
  // Prepares the calling thread and its team of threads for rank `rank` of `ranks`, before kernels
  // are made.
  void (*prepare)(int threads, int rank, int ranks) = nullptr;
  // Whether a tensor is the same bytes in both layouts; nullptr: never.
  bool (*same_bytes)(const Type&, const Layout&, const Layout&) = nullptr;
  // The layout in which an implementation (nullptr: none) can read a tensor: the layout that the
  // tensor has, unless elements of 16 bits must be widened to floats first. nullptr: no layout of
  // this back end has 16 bits.
  Layout (*readable)(const Implementation*, const Type&, const Layout&) = nullptr;
  // The given layout with elements in IEEE half; nullptr: the back end has no such layouts.
  Layout (*narrowed)(const Type&, const Layout&) = nullptr;
  // Throws Error when this machine can't compute in the precision; nullptr: f32 and f64 only.
  void (*require_precision)(const std::string& precision) = nullptr;
  std::map<std::string, std::vector<Implementation>, std::less<>> by_op;
  // The implementation for operators that are not in by_op, and for nodes that no entry of by_op
  // supports; nullptr: there is none.
  const Implementation* (*last_resort)(const Op&) = reference_for;

  // The implementation that the node asks for, else the first that is preferred and supports it,
  // else the last resort. nullptr when there is none: views and messages are carried out by the
  // executor. Throws Error when the node asks for an implementation that can't run it, or when the
  // one found works on the memory of another device.
  const Implementation* find(const Graph& graph, const Node& node) const;
  // As find(), once values have layouts: an implementation that can't run on the layouts of the
  // node's values is passed over.
  const Implementation* find_laid_out(const Graph& graph, const Node& node) const;
  // As find_laid_out(), for nodes that need a kernel; throws Error where there is none.
  const Implementation& choose(const Graph& graph, const Node& node) const;
  // All implementations of by_op that support the node, in the order of the table.
  std::vector<const Implementation*> supporting(const Graph& graph, const Node& node) const;
};

// The table as the Backend that passes ask. The table must outlive the result.
Backend backend_of(const KernelTable& table);

}  // namespace tutti
