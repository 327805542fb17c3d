// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op average_pool;       // average_pool(x[n,c,spatial…]) -> y
extern const Op average_pool_grad;  // average_pool_grad(dy) -> dx

}  // namespace tutti::ops
