// SPDX-License-Identifier: Apache-2.0
// What the operators that close a step (exchange, update) have in common. They work on blocks of
// the flat vectors of parameters, gradients and optimizer state, and know nothing of layers.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// Why the operators of this header have no gradient.
inline constexpr const char* placed_after_backward =
    "range operators are placed after the backward pass has been made";

// The settings `offset`, `count` and `dtype` of a block that an operator makes of its inputs.
std::vector<Setting> block_settings();
// The type of the block that these settings describe; throws unless every input has its data type.
Type joined_block(const char* op, const Settings& settings, const std::vector<Type>& in);

// The settings `axes` and `part_offset`, and `count`: how many elements the part or the block has.
std::vector<Setting> part_settings(Setting count);
// Throws unless a part that begins at element `offset` lies inside the block.
void require_part(const char* op, std::int64_t offset, const Shape& part, const Shape& block);

}  // namespace tutti::ops
