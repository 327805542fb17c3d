// SPDX-License-Identifier: Apache-2.0
// Our allreduce of ranks that mpirun has started, as bench/peers/mpi_allreduce.cpp has MPI's own:
// answers "ALGORITHM BYTES REPEATS" on rank 0's input with the seconds of one.
#pragma once

namespace tutti::bench {

// `messages`: by algorithms that send messages only, over whatever MPI was told to use; else by
// those for memory that all ranks see, too. MPI's own allreduce is never used.
void serve_sums(bool messages);

}  // namespace tutti::bench
