// SPDX-License-Identifier: Apache-2.0
// Takes the place of this folder where MPI was not found.
#include "tutti/comm/mpi/mpi.h"

namespace tutti {

bool has_mpi() { return false; }

void run_mpi_rank(const std::function<void(Communicator&)>&) {
  const std::optional<LaunchedRank> launched = launched_rank();
  throw Error(
      "a launcher of MPI started {} processes, but this tutti was built without MPI; install "
      "libopenmpi-dev and openmpi-bin and build it again, or start it once: its ranks are then "
      "threads",
      launched ? launched->ranks : 1);
}

}  // namespace tutti
