// SPDX-License-Identifier: Apache-2.0
// Up to which size neighbouring ranges travel together: long messages waste less on latency, short
// ones start earlier. A step is simulated for each of some sizes.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/recipe/job.h"

namespace tutti {

// What exchange.block_bytes = 0 means on a rank of the job: the size whose simulated step is
// shortest, or the usual one unless another is better by a hundredth.
std::int64_t best_block_bytes(const Job& job, const NetInput& input, int threads,
                              const TransportFacts& facts);

// The same on all ranks, all of which call this: as rank 0 decides.
std::int64_t common_block_bytes(const Job& job, const NetInput& input, int threads,
                                Communicator& communicator);

}  // namespace tutti
