// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op gelu;        // gelu(x) -> y
extern const Op gelu_grad;   // gelu_grad(dy, x) -> dx
extern const Op gelu_grad2;  // gelu_grad2(v, x) -> v · gelu''(x)

}  // namespace tutti::ops
