// SPDX-License-Identifier: Apache-2.0
// Serves our allreduce on ranks that mpirun has started, as bench/peers/mpi_allreduce.cpp serves
// MPI's own. Rank 0 reads lines "ALGORITHM BYTES REPEATS" and answers with the seconds of one
// allreduce. ALGORITHM is ignored: the algorithm is chosen by predicted time.
#pragma once

namespace tutti::bench {

// With `messages`, only algorithms that send messages are used, over the transport that MPI was
// told to use; else also those that work on shared memory. MPI's own allreduce is never used.
void serve_sums(bool messages);

}  // namespace tutti::bench
