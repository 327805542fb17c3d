// SPDX-License-Identifier: Apache-2.0
// Rows of 8-bit integers (Loops::quantise).
#pragma once

#include "tutti/kernels/cpu/loops.h"

namespace tutti::cpu::TUTTI_ISA {

float quantise(const float* x, std::int8_t* q, std::int64_t n);
std::int32_t dot_i8(const std::int8_t* a, const std::int8_t* b, std::int64_t n);
void dequantise(const DequantisedRow& row, const std::int32_t* sums, const float* residual,
                float* y);

}  // namespace tutti::cpu::TUTTI_ISA
