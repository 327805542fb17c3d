// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// parametric_relu(x, slope) -> y; slope has one element, or one per channel (dimension 1)
extern const Op parametric_relu;
// parametric_relu_grad(dy, x, slope) -> dx, dslope
extern const Op parametric_relu_grad;
// parametric_relu_grad2([v_dx], [v_dslope], dy, x, slope) -> gradients of parametric_relu_grad in
// dy, x, slope
extern const Op parametric_relu_grad2;

}  // namespace tutti::ops
