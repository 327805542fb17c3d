// SPDX-License-Identifier: Apache-2.0
// Softmax and cross-entropy (Loops::softmax).
#pragma once

#include "tutti/kernels/cpu/loops.h"

namespace tutti::cpu::TUTTI_ISA {

void softmax(const SoftmaxLines& lines, const float* x, float* y);
void softmax_grad(const SoftmaxLines& lines, const float* dy, const float* y, float* dx);
double cross_entropy(const float* z, std::int64_t classes, std::int64_t label, double smoothing);
void cross_entropy_grad(const float* z, std::int64_t classes, std::int64_t label, double smoothing,
                        float factor, float* dz);

}  // namespace tutti::cpu::TUTTI_ISA
