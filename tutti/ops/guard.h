// SPDX-License-Identifier: Apache-2.0
// Keeps updates from a step whose loss or gradient is not finite, and from all that follow: what it
// returns is sticky, and every update reads it. So nothing changes after such a step, however late
// the host looks.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// guard(x…, word) -> word: 0 while all was finite, then for ever 1 + the number of the first step
// in which an element of some x was not.
extern const Op guard;

}  // namespace tutti::ops
