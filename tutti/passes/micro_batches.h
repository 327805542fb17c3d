// SPDX-License-Identifier: Apache-2.0
// Micro-batches of convolutions (C02, μ-cuDNN): a convolution over a batch is cut into several over
// fragments of the batch, each by the variant that is fastest within a limit of scratch memory.
// Smaller fragments need less scratch memory, so that a fast variant may fit that would not fit the
// whole batch.
#pragma once

#include "tutti/graph/backend.h"

#include <functional>
#include <vector>

namespace tutti {

// Some samples of a batch and the variant that computes them.
struct BatchFragment {
  std::int64_t samples = 0;
  std::string variant;
};

// The fragments of least total time, each within the limit of scratch memory, by dynamic
// programming over the sizes for which `options` returns any; empty when no cut keeps the limit.
std::vector<BatchFragment> cut_batch(
    std::int64_t batch,
    const std::function<std::vector<FragmentOption>(std::int64_t samples)>& options,
    std::int64_t limit_bytes);

// Cuts convolutions into fragments where that is fastest by the back end's options: slices x and
// dy, concatenates the results and adds the gradients of weights.
void micro_batch(Graph& graph, const Backend& backend);

}  // namespace tutti
