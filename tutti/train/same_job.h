// SPDX-License-Identifier: Apache-2.0
// Whether ranks agree: on the job, since ranks that are processes read their recipes by themselves,
// and on the weights.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/recipe/job.h"
#include "tutti/train/replica.h"

#include <string>

namespace tutti {

// Every rank calls this, and none goes on before all are found to be the same. Throws where the
// job, or the version of the program, is another than that of rank 0, naming what differs.
void require_same_job(const Job& job, const std::string& version, Communicator& communicator);

// The same for the weights after a step, bit for bit.
void require_same_weights(const Replica& replica, std::int64_t step, Communicator& communicator);

// On all ranks what rank 0 gives.
std::string text_of_rank_0(std::string text, Communicator& communicator);

}  // namespace tutti
