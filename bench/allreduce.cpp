// SPDX-License-Identifier: Apache-2.0
#include "bench/allreduce.h"

#include "tutti/cost/collective_times.h"

#include "bench/allreduce_peers.h"
#include "bench/round_trip.h"

namespace tutti::bench {
namespace {

void bench_algorithms(const Options& options, const Peak& peak, Records& records) {
  for (const std::int64_t bytes : {1 << 10, 1 << 16, 1 << 20, 1 << 24}) {
    const auto name = [&](const std::string& algorithm) {
      return fmt::format("allreduce/{} {} KiB/{} ranks × 1 thread", algorithm, bytes >> 10,
                         sum_ranks);
    };
    CollectiveSweep sweep = sums_of(options, bytes, options.repeats);
    for (const std::string& algorithm : allreduces().names())
      if (algorithm != "mpi" && options.wants(name(algorithm)))
        sweep.algorithms.push_back(algorithm);
    if (sweep.algorithms.empty()) continue;
    for (const CollectiveTime& time : time_thread_sums(sweep))
      records.time(name(time.algorithm), in_ms(time.seconds), sum_traffic(bytes), peak,
                   round_trip_ns());
  }
}

}  // namespace

void bench_allreduce(const Options& options, const Peaks& peaks, Records& records) {
  const auto both = peaks.find(sum_ranks);
  const Peak peak = both == peaks.end() ? Peak{} : both->second;
  bench_algorithms(options, peak, records);
  if (options.peers) bench_allreduce_peers(options, peak, records);
}

}  // namespace tutti::bench
