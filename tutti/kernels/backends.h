// SPDX-License-Identifier: Apache-2.0
// The list of back ends: each is a name, a table of kernels, and the device whose memory the
// kernels work on.
#pragma once

#include "tutti/core/list.h"
#include "tutti/kernels/kernel_table.h"

#include <memory>
#include <string>

namespace tutti {

struct BackendEntry {
  std::string name, doc;
  KernelTable (*kernels)() = nullptr;
  bool host = true;  // whether its device is the host
  // The device of a rank; `rank` counts the ranks of one machine.
  std::shared_ptr<const Device> (*device)(int rank) = nullptr;
  // Why this machine can't run the back end; "": it can. nullptr: every machine can.
  std::string (*missing)() = nullptr;
};

List<BackendEntry> backends();

// Throws Error where this machine can't run the back end.
void require_available(const BackendEntry& entry);

// The kernel table of the back end of this name, on the device of a rank. Throws Error where there
// is no such back end or this machine can't run it.
KernelTable kernels_named(const std::string& name, int rank = 0);

// The kernels that run every operator by its plain reference.
KernelTable reference_kernels();
// The kernels of oneDNN and our own SIMD loops, with the reference where neither applies.
KernelTable cpu_kernels();
// The kernels that run the reference later, on another thread, on memory that the host can't reach.
KernelTable deferred_kernels();
std::shared_ptr<const Device> deferred_device(int rank);

}  // namespace tutti
