// SPDX-License-Identifier: Apache-2.0
// Joins gradients to a block of the flat gradient vector. The inputs are made where they belong, so
// nothing is copied.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op join;  // join(g…; offset, count, dtype, firsts) -> block [count]

}  // namespace tutti::ops
