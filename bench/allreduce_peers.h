// SPDX-License-Identifier: Apache-2.0
// Our allreduce beside those of MPI and gloo, over transports of the same kind: processes of one
// machine over shared memory, which gloo does not have, and over TCP. MPI is run with several
// settings, gloo with several algorithms, and the best of each is compared at each size.
#pragma once

#include "tutti/cost/collective_times.h"

#include "bench/options.h"

namespace tutti::bench {

constexpr int sum_ranks = 2;

// The bytes that a rank reads and writes in its own and in its peer's vector, if nothing is moved
// twice.
inline Work sum_traffic(std::int64_t bytes) { return {.bytes = 4.0 * static_cast<double>(bytes)}; }

inline Spread in_ms(std::vector<double> seconds) {
  for (double& one : seconds) one *= 1e3;
  return spread_of(std::move(seconds));
}

// The sweep that measures allreduces of vectors of `bytes` bytes.
CollectiveSweep sums_of(const Options& options, std::int64_t bytes, int rounds);

// Times allreduces of ranks that are threads, each on its own core.
std::vector<CollectiveTime> time_thread_sums(const CollectiveSweep& sweep);

void bench_allreduce_peers(const Options& options, const Peak& peak, Records& records);

}  // namespace tutti::bench
