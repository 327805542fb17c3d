// SPDX-License-Identifier: Apache-2.0
// Finds the size up to which neighbouring ranges travel together: long messages waste less on
// latency, short ones start earlier. A step is simulated for each of some sizes.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/recipe/job.h"

namespace tutti {

// What exchange.block_bytes = 0 means: the size whose simulated step is shortest. A size other than
// the default must be faster by a hundredth.
std::int64_t best_block_bytes(const Job& job, const NetInput& input, int threads,
                              const TransportFacts& facts);

// The size that rank 0 finds, on all ranks. Every rank calls this.
std::int64_t common_block_bytes(const Job& job, const NetInput& input, int threads,
                                Communicator& communicator);

}  // namespace tutti
