// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op relu;       // relu(x) -> y
extern const Op relu_grad;  // relu_grad(dy, y) -> dx

}  // namespace tutti::ops
