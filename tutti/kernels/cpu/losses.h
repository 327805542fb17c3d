// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation softmax_cross_entropy();
Implementation softmax_cross_entropy_grad();
Implementation mean_squared_error();
Implementation mean_squared_error_grad();
Implementation huber();
Implementation huber_grad();

}  // namespace tutti::cpu
