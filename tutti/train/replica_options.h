// SPDX-License-Identifier: Apache-2.0
// What a job means for the replica of a rank.
#pragma once

#include "tutti/recipe/job.h"
#include "tutti/train/replica.h"

namespace tutti {

// The options of a rank's replica. The job must outlive the options and the replica.
ReplicaOptions replica_options(const Job& job, const NetInput& input, int threads,
                               Communicator* communicator);

}  // namespace tutti
