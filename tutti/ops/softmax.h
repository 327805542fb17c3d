// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op softmax;       // softmax(x; axis) -> y
extern const Op softmax_grad;  // softmax_grad(dy, y; axis) -> dx
extern const Op
    softmax_grad2;  // softmax_grad2(v, dy, y; axis) -> gradient of v · softmax_grad in y

}  // namespace tutti::ops
