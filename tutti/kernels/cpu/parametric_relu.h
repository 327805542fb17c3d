// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

// With one slope for all channels.
Implementation parametric_relu_shared();
Implementation parametric_relu_grad_shared();
// With a slope for each.
Implementation parametric_relu();
Implementation parametric_relu_grad();

}  // namespace tutti::cpu
