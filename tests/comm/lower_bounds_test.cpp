// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/collectives/lower_bounds.h"

#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/sim/sim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tutti::collectives {
namespace {

constexpr double latency = 1e-6, byte = 1e-10;  // seconds
const LinkCost usual_link{latency, byte};
const std::vector<std::string> of_the_survey = {"tree", "butterfly", "ring", "rabenseifner"};
constexpr double rounding = 1 - 1e-12;  // of sums of times

LowerBounds of_allreduce(const Network& network, int ranks, std::int64_t bytes) {
  return lower_bounds(least_of_allreduce(ranks), network, ranks, static_cast<double>(bytes));
}

TEST(LowerBounds, AreTheFormulas_D06) {
  for (const int ranks : {1, 2, 4, 8, 64}) {
    const LowerBounds bounds = of_allreduce(usual_link, ranks, 1 << 20);
    const double volume = 2.0 * (1 << 20) * byte * (ranks - 1) / ranks;
    EXPECT_DOUBLE_EQ(bounds.latency_seconds, std::log2(ranks) * latency);
    EXPECT_NEAR(bounds.bandwidth_seconds, ranks == 1 ? 0 : (1 << 20) * byte, 1e-15);
    EXPECT_NEAR(bounds.seconds, bounds.latency_seconds + volume, 1e-15);
  }
  EXPECT_DOUBLE_EQ(of_allreduce(usual_link, 5, 0).seconds, 3 * latency);
}

void expect_respected(double seconds, const LowerBounds& bounds, const std::string& what) {
  EXPECT_GE(seconds, bounds.latency_seconds * rounding) << what;
  EXPECT_GE(seconds, bounds.bandwidth_seconds * rounding) << what;
  EXPECT_GE(seconds, bounds.seconds * rounding) << what;
}

// Ranks without values, many.
TEST(LowerBounds, AreRespectedByPrices_D02_D03_D04_D05_D06) {
  for (const std::string& name : of_the_survey)
    for (int ranks = 2; ranks <= 40; ++ranks)
      for (const std::int64_t bytes : {0, 4, 1024, 100 * 1024, 1 << 24})
        expect_respected(allreduces().find(name).seconds(usual_link, ranks, bytes, false),
                         of_allreduce(usual_link, ranks, bytes),
                         fmt::format("{} on {}, {} bytes", name, ranks, bytes));
}

// Ranks with values.
TEST(LowerBounds, AreRespectedBySimulatedRuns_D02_D03_D04_D05_D06) {
  for (const std::string& name : of_the_survey)
    for (int ranks = 2; ranks <= 9; ++ranks)
      for (const std::int64_t count : {1, 100, 4099}) {
        double latest = 0;
        sim::run_simulated_ranks(ranks, {.network = usual_link}, [&](Communicator& comm) {
          std::vector<float> data(static_cast<std::size_t>(count), 1.0f);
          const auto operation = allreduces().find(name).make(comm, {.count = count});
          operation->start(data.data());
          wait(*operation, comm);
          latest = std::max(latest, comm.seconds());
        });
        expect_respected(latest, of_allreduce(usual_link, ranks, 4 * count),
                         fmt::format("{} on {}, {} elements", name, ranks, count));
      }
}

// It meets the term of bandwidth, and takes twice the latency.
TEST(LowerBounds, OfBandwidthIsMetByRabenseifner_D05_D06) {
  const LinkCost no_latency{0, byte}, no_bytes{latency, 0};
  for (const int ranks : {2, 4, 8, 16, 64})
    for (const std::int64_t bytes : {256, 1 << 20}) {
      const auto seconds = [&](const LinkCost& link) {
        return allreduces().find("rabenseifner").seconds(link, ranks, bytes, false);
      };
      const double least = of_allreduce(no_latency, ranks, bytes).seconds;
      EXPECT_NEAR(seconds(no_latency), least, 1e-12 * least) << ranks;
      EXPECT_DOUBLE_EQ(seconds(no_bytes), 2 * of_allreduce(no_bytes, ranks, bytes).latency_seconds)
          << ranks;
    }
}

TEST(LowerBounds, OfTheOthersAreRespectedToo_D06) {
  const auto expect = [](const List<Collective>& list, LeastTraffic (*least)(int)) {
    for (const Collective& entry : list) {
      if (!entry.schedule) continue;
      for (int ranks = 1; ranks <= 17; ++ranks)
        for (const int floats : {0, 16, 1024})  // of each rank
          expect_respected(entry.seconds(usual_link, ranks, 4L * floats * ranks, false),
                           lower_bounds(least(ranks), usual_link, ranks, 4.0 * floats * ranks),
                           fmt::format("{} {} on {}", list.kind(), entry.name, ranks));
    }
  };
  expect(reduces(), least_of_rooted);
  expect(broadcasts(), least_of_rooted);
  expect(reduce_scatters(), least_of_parts);
  expect(allgathers(), least_of_parts);
  expect(all_to_alls(), least_of_parts);
  expect(neighbour_exchanges(), least_of_neighbours);
}

TEST(LowerBounds, GoByTheLinksThatThereAre_D06) {
  const Network nodes({1e-3, 0}, {1e-6, 0}, 4);
  EXPECT_DOUBLE_EQ(of_allreduce(nodes, 4, 4).seconds, 2e-6);
  EXPECT_DOUBLE_EQ(of_allreduce(nodes, 8, 4).seconds, 3e-6);
  EXPECT_DOUBLE_EQ(of_allreduce(Network({1e-3, 0}, {1e-6, 0}, 1), 4, 4).seconds, 2e-3);
}

}  // namespace
}  // namespace tutti::collectives
