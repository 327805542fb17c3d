// SPDX-License-Identifier: Apache-2.0
// How a rank reads batches: its share of each, and what samples weigh in the loss.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/data/prefetch.h"
#include "tutti/recipe/job.h"

namespace tutti {

// How this rank reads batches of the job. Samples weigh what the job's merge says.
data::PrefetchOptions reading_of(const Job& job, const Communicator& communicator);

// The weight of a sample where all samples of a batch together weigh 1.
double mean_weight(std::int64_t own, std::int64_t all);

}  // namespace tutti
