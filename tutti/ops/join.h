// SPDX-License-Identifier: Apache-2.0
// Names the block of the flat gradient vector that its inputs fill. The inputs are computed at
// their places in the block, so nothing is copied.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op join;  // join(g…; offset, count, dtype, firsts) -> block [count]

}  // namespace tutti::ops
