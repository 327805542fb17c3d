// SPDX-License-Identifier: Apache-2.0
// Some elements of a block of a flat vector, such as one parameter, under a shape; nothing is
// copied.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op section;  // section(block; offset, shape) -> elements of the block

}  // namespace tutti::ops
