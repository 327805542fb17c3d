// SPDX-License-Identifier: Apache-2.0
// Ranks are processes that a launcher of MPI (mpirun, srun …) has started. Only this folder knows
// MPI; where it was not there when tutti was built, absent.cpp says so.
#pragma once

#include "tutti/comm/communicator.h"

#include <functional>
#include <optional>

namespace tutti {

struct LaunchedRank {
  int rank = 0, ranks = 1;
};

// What the launcher left in the environment; nothing when there is none, or no other rank. MPI is
// not begun for that.
std::optional<LaunchedRank> launched_rank();

// Whether tutti was built with MPI.
bool has_mpi();

// Runs `body` on the rank that this process is; once in a process. When a rank fails, all end
// within seconds: here rank 0 throws its own error, or Aborted with that of another rank; the other
// processes don't return, and say nothing.
void run_mpi_rank(const std::function<void(Communicator&)>& body);

}  // namespace tutti
