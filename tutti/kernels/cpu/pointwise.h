// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation relu();
Implementation relu_grad();
Implementation tanh_grad();
Implementation sigmoid_grad();
Implementation add();
Implementation multiply();
Implementation scale();
Implementation copy();
Implementation dropout();

}  // namespace tutti::cpu
