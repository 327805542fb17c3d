// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation matmul();
// Weight gradients dyᵀx, each thread of the team making its own rows (matmul_by_rows.cpp).
Implementation matmul_by_rows();
// Of few rows and many weights (matmul_of_few_rows.cpp): x Wᵀ, and dy W.
Implementation matmul_turned();
Implementation matmul_gemm();

}  // namespace tutti::cpu
