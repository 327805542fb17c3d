// SPDX-License-Identifier: Apache-2.0
// A value from one rank to another: the two ends of one message.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op send;  // send(x; to, message, axes) ->
extern const Op recv;  // recv(; shape, dtype, from, message, axes) -> x

}  // namespace tutti::ops
