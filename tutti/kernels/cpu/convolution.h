// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/kernel.h"

namespace tutti::cpu {

Implementation convolution();
Implementation convolution_grad_input();
Implementation convolution_grad_weight();

}  // namespace tutti::cpu
