// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op sigmoid;       // sigmoid(x) -> y
extern const Op sigmoid_grad;  // sigmoid_grad(dy, y) -> dx

}  // namespace tutti::ops
