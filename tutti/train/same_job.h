// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes read their recipes by themselves: whether they read the same.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/train/job.h"

#include <string>

namespace tutti {

// Every rank calls this, and none goes on before all are found to be the same. Throws where the
// job, or the version of the program, is another than that of rank 0, naming what differs.
void require_same_job(const Job& job, const std::string& version, Communicator& communicator);

}  // namespace tutti
