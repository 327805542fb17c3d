// SPDX-License-Identifier: Apache-2.0
// The back ends that there are: each a name, the kernels that compute, and the device whose memory
// they compute on.
#pragma once

#include "tutti/core/list.h"
#include "tutti/kernels/kernel_table.h"

#include <memory>
#include <string>

namespace tutti {

struct BackendEntry {
  std::string name, doc;
  KernelTable (*kernels)() = nullptr;
  bool host = true;  // its device is the host
  // The device of the rank that has this number on its machine.
  std::shared_ptr<const Device> (*device)(int rank) = nullptr;
  // Why this machine can't compute so; "": it can. nullptr: every machine can.
  std::string (*missing)() = nullptr;
};

List<BackendEntry> backends();

// Throws Error where this machine can't compute so.
void require_available(const BackendEntry& entry);

// The table of a back end, on the device of a rank. Throws Error where there is none of this name,
// or the machine can't compute so.
KernelTable kernels_named(const std::string& name, int rank = 0);

// Every operator by its plain reference.
KernelTable reference_kernels();
// oneDNN and own SIMD loops, with the reference where neither applies.
KernelTable cpu_kernels();
// The reference, later and on another thread, on memory that the host can't reach.
KernelTable deferred_kernels();
std::shared_ptr<const Device> deferred_device(int rank);

}  // namespace tutti
