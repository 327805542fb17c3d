// SPDX-License-Identifier: Apache-2.0
// Transposition of a matrix with bias and ReLU (Loops::turn).
#pragma once

#include "tutti/kernels/cpu/loops.h"

namespace tutti::cpu::TUTTI_ISA {

void turn(const float* x, std::int64_t x_stride, float* y, std::int64_t y_stride, std::int64_t rows,
          std::int64_t columns, const float* bias, bool relu);

}  // namespace tutti::cpu::TUTTI_ISA
