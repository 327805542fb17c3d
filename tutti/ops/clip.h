// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op clip;       // clip(x; limit) -> y = x within ±limit
extern const Op clip_grad;  // clip_grad(dy, x; limit) -> dx = dy where |x| < limit, else 0

}  // namespace tutti::ops
