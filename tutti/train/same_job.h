// SPDX-License-Identifier: Apache-2.0
// Whether ranks agree: on the job, since ranks that are processes read their recipes by themselves,
// and on the weights.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/recipe/job.h"
#include "tutti/train/replica.h"

#include <string>

namespace tutti {

// Throws Error on a rank whose job, or version of the program, differs from that of rank 0, naming
// what differs. Every rank calls this, and none goes on before all jobs are found to be equal.
void require_same_job(const Job& job, const std::string& version, Communicator& communicator);

// Throws Error on a rank whose weights differ from those of rank 0 in any bit. Every rank calls
// this after the same step.
void require_same_weights(const Replica& replica, std::int64_t step, Communicator& communicator);

// The text that rank 0 gives, on all ranks. Every rank calls this.
std::string text_of_rank_0(std::string text, Communicator& communicator);

}  // namespace tutti
