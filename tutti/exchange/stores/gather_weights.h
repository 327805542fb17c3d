// SPDX-License-Identifier: Apache-2.0
// Sharded parameters: a rank keeps its own parts of w, and gathers a block of weights into the
// arena before the nodes that read it. Behind these nodes the gathered block is dropped; for the
// backward pass it is gathered again. Each gathering begins one block ahead, so that weights travel
// while the rank computes.
#pragma once

#include "tutti/core/flat.h"
#include "tutti/exchange/step_closing.h"
#include "tutti/graph/graph.h"

#include <string>

namespace tutti {

// A gathered block stays in the arena until this many other blocks were read.
inline constexpr int gathered_blocks = 2;

// Inserts the nodes into a forward or training graph whose step has not been closed yet.
// weight_layout() says where a rank keeps its weights.
void gather_weights(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                    const std::string& axis);

}  // namespace tutti
