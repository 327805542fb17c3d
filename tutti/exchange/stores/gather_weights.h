// SPDX-License-Identifier: Apache-2.0
// Sharded parameters: a rank keeps its own parts of w, and gathers a block of weights into the
// arena before the nodes that read it. It is dropped behind them, and gathered again for the
// backward pass; the gathering of the next block begins one block ahead, so that it travels while
// the rank computes.
#pragma once

#include "tutti/core/flat.h"
#include "tutti/exchange/step_closing.h"
#include "tutti/graph/graph.h"

#include <string>

namespace tutti {

// Weights that are read while fewer than so many others have been read since are still there.
inline constexpr int gathered_blocks = 2;

// Inserts the nodes into a forward or training graph whose step has not been closed yet. Where the
// weights lie at a rank is weight_layout's to say.
void gather_weights(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                    const std::string& axis);

}  // namespace tutti
