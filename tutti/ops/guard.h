// SPDX-License-Identifier: Apache-2.0
// The guard stops training at a step whose loss or gradient is not finite. It returns a word that
// stays set after such a step. Every update reads the word and does nothing once it is set. So
// nothing changes after a bad step, however late the host looks.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// guard(x…, word) -> word: 0 while every x was finite in all steps; else 1 + the number of the
// first step in which an element of some x was not finite.
extern const Op guard;

}  // namespace tutti::ops
