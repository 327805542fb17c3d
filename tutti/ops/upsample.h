// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op upsample;  // upsample(x[n,c,spatial…]; factor, mode) -> y, factor times as large
extern const Op upsample_grad;  // upsample_grad(dy; factor, mode) -> dx

}  // namespace tutti::ops
