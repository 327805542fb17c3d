// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation sample_norm();
Implementation sample_norm_grad();

}  // namespace tutti::cpu
