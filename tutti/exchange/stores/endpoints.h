// SPDX-License-Identifier: Apache-2.0
// A store that is cut over endpoints, one beside each rank, for ranks that do not meet (F01). A
// rank pushes each block as soon as it is filled, every part to the endpoint that owns it. The
// endpoint applies the rule to its part of the weights and answers with the new ones. So an answer
// holds all earlier pushes of that rank, and the pushes of other ranks that came before.
#pragma once

#include "tutti/exchange/block_nodes.h"

#include <cstdint>
#include <vector>

namespace tutti {

// The name of the message that a rank sends first in a step, to every endpoint.
inline constexpr const char* bad_step_message = "the word of a bad step";

// Adds the rank's side of a step: it pushes blocks, and receives the new weights at the end. The
// word of a bad step goes first, so that endpoints leave out what such a step pushes. Σ g² of the
// rank becomes a result at `results_offset_bytes`.
void push_and_pull(BlockNodes& nodes, const std::vector<FilledBlock>& blocks,
                   std::int64_t results_offset_bytes);

// The graph of what endpoint closing.rank does for one step of rank `worker`. The endpoint keeps
// its parts of weights and states one behind the other (state_layout); the pushed gradients
// (Base::gradients) and the answers (Base::encoded) are laid out in the same way. Among the
// results, the word of a bad step lies at `bad_step_offset`, and sums of squares lie from
// `squares_offset` on.
Graph service_of(const RangeTable& table, DType dtype, const StepClosing& closing, int worker,
                 std::int64_t bad_step_offset, std::int64_t squares_offset);

}  // namespace tutti
