// SPDX-License-Identifier: Apache-2.0
// Our allreduce beside those of MPI and gloo, over transports of the same kind: processes of one
// machine that share memory, which gloo's can't, and TCP. MPI is run with several settings, gloo
// with several algorithms, and the best of each at each size is compared.
#pragma once

#include "tutti/cost/collective_times.h"

#include "bench/options.h"

namespace tutti::bench {

constexpr int sum_ranks = 2;

// What a rank reads and writes of its own vector and of its peer's, if nothing is moved twice.
inline Work sum_traffic(std::int64_t bytes) { return {.bytes = 4.0 * static_cast<double>(bytes)}; }

inline Spread in_ms(std::vector<double> seconds) {
  for (double& one : seconds) one *= 1e3;
  return spread_of(std::move(seconds));
}

CollectiveSweep sums_of(const Options& options, std::int64_t bytes, int rounds);

// Of ranks that are threads, each on its core.
std::vector<CollectiveTime> time_thread_sums(const CollectiveSweep& sweep);

void bench_allreduce_peers(const Options& options, const Peak& peak, Records& records);

}  // namespace tutti::bench
