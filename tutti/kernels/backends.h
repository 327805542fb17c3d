// SPDX-License-Identifier: Apache-2.0
// The back ends that there are.
#pragma once

#include "tutti/kernels/kernel_table.h"

namespace tutti {

// Every operator by its plain reference.
KernelTable reference_kernels();
// oneDNN and own SIMD loops, with the reference where neither applies.
KernelTable cpu_kernels();
// The table called `name` in a recipe.
KernelTable kernels_named(const std::string& name);

}  // namespace tutti
