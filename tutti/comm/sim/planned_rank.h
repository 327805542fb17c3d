// SPDX-License-Identifier: Apache-2.0
// A rank of a job that never runs: programs are compiled with it to be looked at and simulated.
#pragma once

#include "tutti/comm/communicator.h"

#include <memory>

namespace tutti::sim {

// Messages of such ranks, which don't share memory, go through `network`. Sending any is an Error.
std::unique_ptr<Communicator> planned_rank(int rank, int ranks, const Network& network);

}  // namespace tutti::sim
