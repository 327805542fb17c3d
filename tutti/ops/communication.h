// SPDX-License-Identifier: Apache-2.0
// Communication between ranks, as operators of the graph. A rank is named by its place in the group
// of its mesh axes. The executor carries them out; there is no reference.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op allreduce;  // allreduce(x; axes) -> the sum of x over the ranks along the axes
extern const Op broadcast;  // broadcast(x; axes) -> x of the first rank along the axes
extern const Op barrier;    // barrier(; axes) -> when all ranks along the axes have come
extern const Op send;       // send(x; to, message, axes) ->
extern const Op recv;       // recv(; shape, dtype, from, message, axes) -> x

}  // namespace tutti::ops
