// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation sigmoid();
Implementation tanh();
Implementation gelu();
Implementation gelu_grad();
Implementation leaky_relu();
Implementation leaky_relu_grad();

}  // namespace tutti::cpu
