// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op tanh;       // tanh(x) -> y
extern const Op tanh_grad;  // tanh_grad(dy, y) -> dx

}  // namespace tutti::ops
