// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation matmul_i8();          // oneDNN, where the processor multiplies 8 bits exactly
Implementation matmul_i8_by_rows();  // dot products

}  // namespace tutti::cpu
