// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/backends.h"

namespace tutti {

KernelTable reference_kernels() {
  KernelTable table;
  table.name = "reference";
  return table;
}

KernelTable kernels_named(const std::string& name) {
  if (name == "cpu") return cpu_kernels();
  if (name == "reference") return reference_kernels();
  throw Error("unknown back end '{}'; expected one of: cpu, reference", name);
}

}  // namespace tutti
