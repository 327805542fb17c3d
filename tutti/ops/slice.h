// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op slice;       // slice(x; axis, begin, end) -> y
extern const Op slice_grad;  // slice_grad(dy; axis, begin, extent) -> dx, zero outside the slice

}  // namespace tutti::ops
