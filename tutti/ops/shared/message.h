// SPDX-License-Identifier: Apache-2.0
// What the operators that communicate have in common. A rank is named by its place in the group of
// its mesh axes. The executor carries these operators out; they have no reference.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// `axes`: the mesh axes along which ranks communicate.
Setting axes_setting();

// The cost of reading the inputs and writing the outputs on this rank. The bytes that travel are
// not counted: they depend on the algorithm that the communicator picks.
Cost message_cost(const Settings& settings, const std::vector<Type>& in,
                  const std::vector<Type>& out);

}  // namespace tutti::ops
