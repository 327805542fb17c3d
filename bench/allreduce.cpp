// SPDX-License-Identifier: Apache-2.0
#include "bench/allreduce.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/threads/threads.h"

#include "bench/machine.h"

#include <cmath>
#include <vector>

namespace tutti::bench {
namespace {

constexpr int ranks = 2;

// One rank's part of a measurement; rank 0's times count. Powers of two add exactly.
std::vector<double> run_rank(Communicator& communicator, const Collective& collective,
                             std::int64_t count, int repeats, double round_ms) {
  std::vector<float> data(static_cast<std::size_t>(count));
  const auto operation = collective.make(communicator, {.count = count, .tag = 1});
  const auto once = [&] {
    operation->start(data.data());
    wait(*operation, communicator);
  };
  std::fill(data.begin(), data.end(), communicator.rank() == 0 ? 1.0f : 0.5f);
  once();
  for (const float sum : data)
    if (sum != 1.5f)
      throw Error("allreduce {} of {} elements: a sum is {}, expected 1.5", collective.name, count,
                  sum);
  std::fill(data.begin(), data.end(), 0.0f);  // sums stay zero however often they are taken
  once();
  // Both ranks must agree on the number of executions: it depends on the size only.
  const double bytes = 4.0 * static_cast<double>(count);
  const int times = std::max(repeats, static_cast<int>(round_ms / (2e-3 + bytes / 4e6)));
  std::vector<double> samples;
  for (int k = 0; k < times; ++k) {
    const double started = now_ms();
    once();
    samples.push_back(now_ms() - started);
  }
  return samples;
}

}  // namespace

void bench_allreduce(const Options& options, Records& records) {
  for (const Collective& collective : allreduces()) {
    for (const std::int64_t bytes : {1 << 10, 1 << 16, 1 << 20, 1 << 24}) {
      const std::string name = fmt::format("allreduce/{} {} KiB/{} ranks × 1 thread",
                                           collective.name, bytes >> 10, ranks);
      if (!options.wants(name)) continue;
      std::vector<double> samples;
      run_ranks(ranks, [&](Communicator& communicator) {
        if (!collective.supports(communicator)) return;
        std::vector<double> own =
            run_rank(communicator, collective, bytes / 4, options.repeats, options.round_ms());
        if (communicator.rank() == 0) samples = std::move(own);
      });
      if (samples.empty()) continue;
      const double traffic = 2.0 * (ranks - 1) / ranks * static_cast<double>(bytes);
      records.time(name, spread_of(std::move(samples)), {.bytes = traffic}, {}, round_trip_ns());
    }
  }
}

}  // namespace tutti::bench
