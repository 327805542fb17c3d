// SPDX-License-Identifier: Apache-2.0
// Losses of regression (Loops::squared_error).
#pragma once

#include "tutti/kernels/cpu/loops.h"

namespace tutti::cpu::TUTTI_ISA {

double squared_error(const float* p, const float* t, std::int64_t n);
double huber(const float* p, const float* t, float delta, std::int64_t n);
void clipped_difference(const float* p, const float* t, float delta, float factor, float* y,
                        std::int64_t n);

}  // namespace tutti::cpu::TUTTI_ISA
