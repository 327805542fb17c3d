// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op copy;     // copy(x) -> y
extern const Op reorder;  // reorder(x) -> y, the same values in another layout
extern const Op relabel;  // relabel(x) -> y, a view of the same bytes under another layout

}  // namespace tutti::ops
