// SPDX-License-Identifier: Apache-2.0
// Measured links: kept in a file, between samples a straight line, the same on all ranks (K04).
#include "tutti/comm/links.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/collectives/price.h"
#include "tutti/comm/threads/threads.h"

#include "comm/counting_communicator.h"
#include "expect_error.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti {
namespace {

// 1 µs and 0.1 ns per byte, adding 0.05 ns per byte.
std::vector<LinkSample> straight() {
  std::vector<LinkSample> samples;
  for (double bytes = 4; bytes <= 1 << 20; bytes *= 4)
    samples.push_back({bytes, 1e-6 + bytes * 1e-10, bytes * 5e-11});
  return samples;
}

TEST(Links, ReadBackWhatWasWrittenByTransport) {
  const TemporaryFolder folder;
  const std::string path = folder.file("cache/network.json");
  EXPECT_TRUE(read_links(path, "mpi").within.empty());
  write_links(path, "mpi", {.within = straight()});
  write_links(path, "mpi", {.across = {{8, 2e-5, 1e-9}}, .handling_seconds_per_byte = 3e-10});
  const MeasuredLinks links = read_links(path, "mpi");
  EXPECT_EQ(links.within.size(), straight().size());
  ASSERT_EQ(links.across.size(), 1u);
  EXPECT_EQ(links.across[0].message_seconds, 2e-5);
  EXPECT_EQ(links.handling_seconds_per_byte, 3e-10);
  EXPECT_TRUE(read_links(path, "threads").within.empty());
}

TEST(Links, NamesAFileThatIsNone) {
  const TemporaryFolder folder;
  const std::string path = folder.file("network.json");
  write_bytes(path, "{}");
  expect_error([&] { read_links(path, "mpi"); }, {path.c_str(), "tutti calibrate"});
  write_bytes(path, R"({"version": 7, "links": {}})");
  expect_error([&] { read_links(path, "mpi"); }, {"version 7, expected 1"});
}

// Samples on a straight line predict what latency and rate do (K04).
TEST(Links, StraightSamplesAreTheModelK04) {
  const LinkCost measured = link_of(straight()), model{1e-6, 1e-10, 5e-11};
  EXPECT_NEAR(measured.latency_seconds, 1e-6, 1e-9);
  EXPECT_NEAR(measured.seconds_per_byte, 1e-10, 1e-14);
  for (const char* name : {"ring", "tree", "butterfly", "rabenseifner", "chain"})
    for (const std::int64_t bytes : {64, 100'000, 1'000'000}) {
      const auto seconds = allreduces().find(name).seconds;
      EXPECT_NEAR(seconds(measured, 8, bytes, false) / seconds(model, 8, bytes, false), 1, 0.01)
          << name << " " << bytes;
    }
}

TEST(Links, BetweenSamplesAndBeyondThem) {
  const LinkCost link = link_of({{100, 1e-6, 0}, {200, 3e-6, 1e-6}});
  EXPECT_DOUBLE_EQ(link.message_seconds(0), 1e-6);
  EXPECT_DOUBLE_EQ(link.message_seconds(150), 2e-6);
  EXPECT_DOUBLE_EQ(link.message_seconds(400), 6e-6);
  EXPECT_DOUBLE_EQ(link.add_seconds(150), 5e-7);
  EXPECT_EQ(link.add_seconds(0), 0);
}

// All ranks expect what rank 0 has measured, and choose by it (K05).
TEST(Links, RankZeroSpeaksForAllK05) {
  const TemporaryFolder folder;
  const std::string path = folder.file("network.json");
  write_links(path, "threads",
              {.within = {{4, 1e-3, 0}, {1 << 20, 1e-3, 1e-6}},
               .across = {{4, 2e-3, 0}},
               .handling_seconds_per_byte = 3e-10});
  run_ranks(3, [&](Communicator& communicator) {
    use_measured_links(communicator, "threads", communicator.rank() == 0 ? path : "");
    const Network network = communicator.network();
    EXPECT_EQ(network.within.latency_seconds, 1e-3);
    EXPECT_EQ(network.across.handling_seconds_per_byte, 3e-10);
    EXPECT_EQ(network.node_ranks, 3);
    // Latency is all: few steps win even with long vectors.
    CountingCommunicator far(communicator, {.link = network.within});
    EXPECT_EQ(choose(allreduces(), "auto", far, {.count = 1 << 18}).name, "butterfly");
  });
}

}  // namespace
}  // namespace tutti
