// SPDX-License-Identifier: Apache-2.0
#include "bench/round_trip.h"

#include "tutti/core/cores.h"

#include "bench/spread.h"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace tutti::bench {

double round_trip_ns() {
  constexpr int trips = 500, most_batches = 20, stop = -1;
  constexpr double most_ms = 50;  // on a machine that others load
  if (allowed_cores().size() < 2) return 0;
  std::atomic<int> ball{0};
  const auto catch_ball = [&](int expected) {
    int seen = ball.load(std::memory_order_acquire);
    while (seen != expected && seen != stop) seen = ball.load(std::memory_order_acquire);
    return seen == expected;
  };
  std::vector<double> batches;
  std::thread first([&] {
    run_on_core(allowed_cores()[0]);
    const double began = now_ms();
    while (batches.size() < most_batches && now_ms() - began < most_ms) {
      const double started = now_ms();
      for (int trip = 0; trip < trips; ++trip) {
        ball.store(1, std::memory_order_release);
        catch_ball(0);
      }
      batches.push_back((now_ms() - started) * 1e6 / trips);
    }
    ball.store(stop, std::memory_order_release);
  });
  std::thread second([&] {
    run_on_core(allowed_cores()[1]);
    while (catch_ball(1)) ball.store(0, std::memory_order_release);
  });
  first.join();
  second.join();
  return spread_of(std::move(batches)).median;
}

}  // namespace tutti::bench
