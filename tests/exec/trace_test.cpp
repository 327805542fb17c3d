// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/trace.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tutti {
namespace {

TEST(Trace, OverlappingMessagesGetLanes) {
  const TraceEvents events = {
      {.name = "a", .stream = TraceEvent::messages, .start = 0, .seconds = 3},
      {.name = "b", .stream = TraceEvent::messages, .start = 1, .seconds = 1},
      {.name = "c", .stream = TraceEvent::messages, .start = 2, .seconds = 2},
      {.name = "d", .stream = TraceEvent::messages, .start = 3, .seconds = 1},
      {.name = "e", .rank = 1, .stream = TraceEvent::messages, .start = 0, .seconds = 9},
      {.name = "f", .start = 0, .seconds = 9}};
  EXPECT_EQ(lanes_of(events), (std::vector<int>{0, 1, 1, 0, 0, 0}));
}

TEST(Trace, ChromeFormat) {
  const TraceEvents events = {{.name = "convolution of \"c\"",
                               .detail = "onednn",
                               .rank = 1,
                               .start = 10.5,
                               .seconds = 0.25},
                              {.name = "allreduce_block of c",
                               .rank = 1,
                               .stream = TraceEvent::messages,
                               .start = 10.75,
                               .seconds = 0.5,
                               .bytes = 400}};
  const auto json = nlohmann::json::parse(chrome_trace(events, 10));
  const auto& list = json.at("traceEvents");
  ASSERT_EQ(list.size(), 5u);  // a process, two rows, two events
  EXPECT_EQ(list[0].at("args").at("name"), "rank 1");
  EXPECT_EQ(list[2].at("args").at("name"), "messages");
  EXPECT_EQ(list[3].at("ph"), "X");
  EXPECT_EQ(list[3].at("name"), "convolution of \"c\"");
  EXPECT_EQ(list[3].at("ts"), 500000);
  EXPECT_EQ(list[3].at("dur"), 250000);
  EXPECT_EQ(list[4].at("tid"), 1);
  EXPECT_EQ(list[4].at("args").at("bytes"), 400);
}

}  // namespace
}  // namespace tutti
