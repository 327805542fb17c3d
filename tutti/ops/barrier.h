// SPDX-License-Identifier: Apache-2.0
// A point that no rank passes before all have come there.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op barrier;  // barrier(; axes) ->

}  // namespace tutti::ops
