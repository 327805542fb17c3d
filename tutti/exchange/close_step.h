// SPDX-License-Identifier: Apache-2.0
// Closes the graph of a step: resolves partial gradient ranges by allreduce and updates every
// trainable range. A block of ranges travels as soon as the backward pass has filled it; its update
// waits for nothing else. A bound on the global norm is a declared barrier.
#pragma once

#include "tutti/core/flat.h"
#include "tutti/graph/graph.h"
#include "tutti/optim/rule.h"

#include <vector>

namespace tutti {

struct StepClosing {
  const Rule* rule = nullptr;
  Settings rule_settings = {};
  double weight_decay = 0;
  double clip_value = 0;               // 0: off
  double clip_norm = 0;                // 0: off
  std::int64_t block_bytes = 1 << 20;  // neighbouring ranges are merged up to this size
};

// Appends reduce, gradient_norm and update nodes. The Σ g² of each update becomes a result of the
// graph, placed from `results_offset_bytes` on, 8 bytes each.
void close_step(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                std::int64_t results_offset_bytes);

}  // namespace tutti
