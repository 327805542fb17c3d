// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op scale;  // scale(x; factor) -> y

// Adds the node −x.
ValueId negated(Graph& graph, ValueId x);

}  // namespace tutti::ops
