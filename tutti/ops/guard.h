// SPDX-License-Identifier: Apache-2.0
// The guard stops training at a step whose loss or gradient is not finite. Every update reads the
// word that it returns and does nothing once the word is set, and the word stays set. So nothing
// changes after such a step, however late the host looks.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// guard(x…, word) -> word: 0 while all was finite, then for ever 1 + the number of the first step
// in which an element of some x was not.
extern const Op guard;

}  // namespace tutti::ops
