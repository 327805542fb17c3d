// SPDX-License-Identifier: Apache-2.0
// Normalisation of one row (Loops::sample_norm).
#pragma once

#include "tutti/kernels/cpu/loops.h"

namespace tutti::cpu::TUTTI_ISA {

Moments moments(const float* x, std::int64_t n, bool center, float epsilon);
void sample_norm(const GainedRow& row, const Moments& moments, const float* x, const float* gain,
                 const float* shift, float* y);
void sample_norm_grad(const GainedRow& row, const Moments& moments, bool center, const float* dy,
                      const float* x, const float* gain, float* dx, float* dgain, float* dshift);

}  // namespace tutti::cpu::TUTTI_ISA
