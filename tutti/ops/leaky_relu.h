// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op leaky_relu;       // leaky_relu(x; slope) -> y
extern const Op leaky_relu_grad;  // leaky_relu_grad(dy, x; slope) -> dx

}  // namespace tutti::ops
