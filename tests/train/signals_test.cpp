// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/signals.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(StopSignals, RemembersTheFirst) {
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) {
    const StopSignals signals;
    EXPECT_EQ(signals.received(), 0);
    std::raise(number);
    EXPECT_EQ(signals.received(), number);
    std::raise(number == SIGTERM ? SIGINT : SIGTERM);
    EXPECT_EQ(signals.received(), number);
  }
}

TEST(StopSignalsDeathTest, ASecondOfAKindEndsAtOnce) {
  EXPECT_EXIT(
      {
        const StopSignals signals;
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "ended at once by a second signal");
}

TEST(StopSignals, AHangupThatWasIgnoredStaysSo) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  const StopSignals signals;
  std::raise(SIGHUP);
  EXPECT_EQ(signals.received(), 0);
  std::signal(SIGHUP, before);
}

TEST(StopSignals, PutsBackWhatWasThere) {
  const auto before = std::signal(SIGUSR1, SIG_IGN);
  { const StopSignals signals; }
  EXPECT_EQ(std::signal(SIGUSR1, before), SIG_IGN);
}

}  // namespace
}  // namespace tutti
