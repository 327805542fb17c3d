// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/measure_links.h"

#include "tutti/comm/threads/threads.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(MeasureLinks, TwoThreadsGiveALinkWithinANodeK04) {
  MeasuredLinks links;
  run_ranks(2, [&](Communicator& communicator) {
    MeasuredLinks own = measure_links(communicator, {.most_bytes = 1024, .round_seconds = 1e-5});
    if (communicator.rank() == 0) links = std::move(own);
  });
  EXPECT_TRUE(links.across.empty());
  ASSERT_EQ(links.within.size(), 9u);  // 4 to 1024 bytes
  ASSERT_EQ(links.direct.size(), 9u);
  ASSERT_EQ(links.staged.size(), 9u);
  for (const LinkSample& sample : links.within) {
    EXPECT_GT(sample.message_seconds, 0);
    EXPECT_GE(sample.add_seconds, 0);
  }
}

TEST(MeasureLinks, OthersWait) {
  run_ranks(3, [&](Communicator& communicator) {
    const MeasuredLinks own =
        measure_links(communicator, {.most_bytes = 16, .round_seconds = 1e-5});
    EXPECT_EQ(own.within.size(), communicator.rank() < 2 ? 3u : 0u);
    EXPECT_TRUE(own.direct.empty());  // is measured between two
  });
}

}  // namespace
}  // namespace tutti
