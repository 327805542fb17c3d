// SPDX-License-Identifier: Apache-2.0
// Communication between ranks, as operators of the graph. A rank is named by its coordinate on a
// mesh axis. The executor carries them out; there is no reference.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op allreduce;  // allreduce(x; axis) -> the sum of x over the ranks of the axis
extern const Op send;       // send(x; to, tag, axis) ->
extern const Op recv;       // recv(; shape, dtype, from, tag, axis) -> x

}  // namespace tutti::ops
