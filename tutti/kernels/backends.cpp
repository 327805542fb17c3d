// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/backends.h"

namespace tutti {
namespace {

std::shared_ptr<const Device> this_process(int) { return host_device(); }

}  // namespace

List<BackendEntry> backends() {
  return {"back end",
          {{.name = "cpu",
            .doc = "oneDNN and own vector loops, on the cores of this machine",
            .kernels = cpu_kernels,
            .device = this_process},
           {.name = "reference",
            .doc = "every operator by its plain loops: slow, and what others are tested against",
            .kernels = reference_kernels,
            .device = this_process},
           {.name = "deferred",
            .doc = "for tests: the plain loops, later and on other threads, on memory that the "
                   "host can't reach, as on a GPU",
            .kernels = deferred_kernels,
            .host = false,
            .device = deferred_device}}};
}

void require_available(const BackendEntry& entry) {
  const std::string missing = entry.missing == nullptr ? "" : entry.missing();
  if (!missing.empty()) throw Error("back end '{}' can't be used here: {}", entry.name, missing);
}

KernelTable kernels_named(const std::string& name, int rank) {
  const BackendEntry entry = backends().find(name);
  require_available(entry);
  KernelTable table = entry.kernels();
  table.device = entry.device(rank);
  return table;
}

KernelTable reference_kernels() {
  KernelTable table;
  table.name = "reference";
  return table;
}

}  // namespace tutti
