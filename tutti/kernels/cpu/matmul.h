// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/kernel.h"

namespace tutti::cpu {

Implementation matmul();       // oneDNN's primitive, with bias, residual and activation
Implementation matmul_sgemm();  // oneDNN's sgemm: unfused products of matrices

}  // namespace tutti::cpu
