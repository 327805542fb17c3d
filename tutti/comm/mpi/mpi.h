// SPDX-License-Identifier: Apache-2.0
// Ranks are processes that a launcher of MPI (mpirun, srun …) has started. Only this folder knows
// MPI; where tutti was built without MPI, absent.cpp takes its place.
#pragma once

#include "tutti/comm/communicator.h"

#include <functional>
#include <optional>

namespace tutti {

struct LaunchedRank {
  int rank = 0, ranks = 1;
};

// This process's rank, as the launcher left it in the environment; nothing without a launcher, or
// with one rank. MPI is not initialised for that.
std::optional<LaunchedRank> launched_rank();

// Whether tutti was built with MPI.
bool has_mpi();

// Runs `body` on the rank that this process is; once in a process. When a rank fails, all end
// within seconds: on rank 0 this throws its own error, or Aborted with that of another rank; the
// other processes don't return, and say nothing unless rank 0 fails to end the job.
void run_mpi_rank(const std::function<void(Communicator&)>& body);

}  // namespace tutti
