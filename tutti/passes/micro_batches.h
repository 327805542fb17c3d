// SPDX-License-Identifier: Apache-2.0
// Micro-batches (C02, μ-cuDNN): a convolution over a batch is several over parts of it, each by the
// variant that is fastest within a limit of scratch memory. Smaller parts need less of it, so that
// a fast variant may fit that would not fit the whole batch.
#pragma once

#include "tutti/graph/backend.h"

#include <functional>
#include <vector>

namespace tutti {

struct BatchFragment {
  std::int64_t samples = 0;
  std::string variant;
};

// The fragments of least total time whose options keep the limit, by dynamic programming over the
// sizes that `options` knows; none when there is no such cut.
std::vector<BatchFragment> cut_batch(
    std::int64_t batch,
    const std::function<std::vector<FragmentOption>(std::int64_t samples)>& options,
    std::int64_t limit_bytes);

// Cuts convolutions where the back end's options make that the fastest: slices of x and dy, results
// joined again, gradients of weights added.
void micro_batch(Graph& graph, const Backend& backend);

}  // namespace tutti
