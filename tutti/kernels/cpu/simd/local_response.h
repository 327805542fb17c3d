// SPDX-License-Identifier: Apache-2.0
// Local response normalisation of one sample (Loops::local_response).
#pragma once

#include "tutti/kernels/cpu/loops.h"

namespace tutti::cpu::TUTTI_ISA {

void local_response(const ResponseSlab& slab, const float* x, float* y);
void local_response_grad(const ResponseSlab& slab, const float* dy, const float* x, float* terms,
                         float* dx);

}  // namespace tutti::cpu::TUTTI_ISA
