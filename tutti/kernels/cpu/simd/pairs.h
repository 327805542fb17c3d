// SPDX-License-Identifier: Apache-2.0
// Max-pooling of planes of one channel by windows of 2×2 that tile the plane.
#pragma once

#include "tutti/kernels/cpu/loops.h"

namespace tutti::cpu::TUTTI_ISA {

void max_pool_pairs(const PoolPlane& plane, const float* x, float* y, std::uint8_t* index);
void max_pool_pairs_grad(const PoolPlane& plane, const float* dy, const std::uint8_t* index,
                         float* dx);

}  // namespace tutti::cpu::TUTTI_ISA
