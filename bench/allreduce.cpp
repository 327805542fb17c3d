// SPDX-License-Identifier: Apache-2.0
#include "bench/allreduce.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/core/cores.h"

#include "bench/machine.h"

#include <atomic>
#include <vector>

namespace tutti::bench {
namespace {

constexpr int ranks = 2;

// One rank's part of a measurement; rank 0's times count.
class Meter {
 public:
  Meter(const Collective& collective, std::int64_t count, const Options& options)
      : collective_(collective), count_(count), options_(options) {}

  void run(Communicator& communicator) {
    run_on_core(
        allowed_cores()[static_cast<std::size_t>(communicator.rank()) % allowed_cores().size()]);
    std::vector<float> data(static_cast<std::size_t>(count_));
    const auto operation = collective_.make(communicator, {.count = count_, .tag = 1});
    const auto once = [&] {
      operation->start(data.data());
      wait(*operation, communicator);
    };
    std::fill(data.begin(), data.end(), communicator.rank() == 0 ? 1.0f : 0.5f);
    once();
    for (const float sum : data)
      if (sum != 1.5f)
        throw Error("allreduce {} of {} elements: a sum is {}, expected 1.5", collective_.name,
                    count_, sum);
    std::fill(data.begin(), data.end(), 0.0f);  // sums stay zero however often they are taken
    const double began = now_ms();
    for (int k = 0; last_.load() != k - 1; ++k) {
      const double started = now_ms();
      // Said before the allreduce in which ranks meet, so that they agree on the last one.
      if (communicator.rank() == 0 && k >= options_.repeats &&
          started - began > options_.round_ms())
        last_ = k;
      once();
      if (communicator.rank() == 0) samples.push_back(now_ms() - started);
    }
  }

  std::vector<double> samples;

 private:
  const Collective& collective_;
  const std::int64_t count_;
  const Options& options_;
  std::atomic<int> last_{-2};
};

}  // namespace

void bench_allreduce(const Options& options, Records& records) {
  for (const Collective& collective : allreduces()) {
    for (const std::int64_t bytes : {1 << 10, 1 << 16, 1 << 20, 1 << 24}) {
      const std::string name = fmt::format("allreduce/{} {} KiB/{} ranks × 1 thread",
                                           collective.name, bytes >> 10, ranks);
      if (!options.wants(name)) continue;
      Meter meter(collective, bytes / 4, options);
      run_ranks(ranks, [&](Communicator& communicator) {
        if (collective.supports(communicator)) meter.run(communicator);
      });
      if (meter.samples.empty()) continue;
      const double traffic = 2.0 * (ranks - 1) / ranks * static_cast<double>(bytes);
      records.time(name, spread_of(std::move(meter.samples)), {.bytes = traffic}, {},
                   round_trip_ns());
    }
  }
}

}  // namespace tutti::bench
