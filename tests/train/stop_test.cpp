// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/stop.h"

#include "tutti/comm/threads/threads.h"

#include "exec/training.h"

#include <gtest/gtest.h>

#include <csignal>

namespace tutti {
namespace {

TEST(Stop, TotalStepsIsTheSmallerLimit) {
  EXPECT_EQ((Limits{}).total_steps(), 0);
  EXPECT_EQ((Limits{.steps = 7}).total_steps(), 7);
  EXPECT_EQ((Limits{.epoch_steps = 20}).total_steps(), 20);
  EXPECT_EQ((Limits{.steps = 7, .epoch_steps = 20}).total_steps(), 7);
  EXPECT_EQ((Limits{.steps = 30, .epoch_steps = 20}).total_steps(), 20);
}

TEST(Stop, EachConditionA06) {
  const Evaluation good{.loss = 0.1, .accuracy = 0.95}, bad{.loss = 0.5, .accuracy = 0.9};
  const auto why = [](const Limits& limits, std::int64_t step, double seconds,
                      const Evaluation* evaluation, int signal = 0) -> std::string {
    auto stop = asked(limits, seconds, signal);
    if (!stop) stop = reached(limits, step, evaluation);
    return stop ? name_of(stop->why) : "";
  };
  EXPECT_EQ(why({}, 1000, 1e9, &good), "");
  EXPECT_EQ(why({.steps = 5}, 4, 0, nullptr), "");
  EXPECT_EQ(why({.steps = 5}, 5, 0, nullptr), "steps");
  EXPECT_EQ(why({.epoch_steps = 5}, 5, 0, nullptr), "epochs");
  EXPECT_EQ(why({.wall_time = 2}, 1, 1.99, nullptr), "");
  EXPECT_EQ(why({.wall_time = 2}, 1, 2, nullptr), "wall_time");
  EXPECT_EQ(why({.target = 0.95}, 1, 0, &bad), "");
  EXPECT_EQ(why({.target = 0.95}, 1, 0, nullptr), "");
  EXPECT_EQ(why({.target = 0.95}, 1, 0, &good), "target");
  EXPECT_EQ(why({.target = 0.2, .by_loss = true}, 1, 0, &bad), "");
  EXPECT_EQ(why({.target = 0.2, .by_loss = true}, 1, 0, &good), "target");
  EXPECT_EQ(why({.steps = 5}, 3, 0, nullptr, SIGTERM), "signal");
}

TEST(Stop, RankZeroDecidesForAll) {
  for (int ranks : {2, 3})
    for (int last : {0, 1, 5})
      run_ranks(ranks, [&](Communicator& communicator) {
        test::Training training({.settings = {{"hidden", Shape{4}}}, .sample = {6}, .batch = 6},
                                &communicator);
        for (int step = 0;; ++step) {
          std::optional<Stop> own;
          if (communicator.rank() == 0 && step == last) own = Stop{TrainSummary::signal, SIGUSR1};
          if (communicator.rank() != 0) own = Stop{TrainSummary::steps};  // doesn't count
          training.replica().tell(word_of({.stop = own, .checkpoint = step % 2 == 1}));
          training.step();
          const Asked asked = asked_in(training.replica().result().word);
          EXPECT_EQ(asked.checkpoint, step % 2 == 1);
          const std::optional<Stop> stop = asked.stop;
          ASSERT_EQ(stop.has_value(), step == last);
          if (!stop) continue;
          EXPECT_EQ(stop->why, TrainSummary::signal);
          EXPECT_EQ(stop->signal, SIGUSR1);
          return;
        }
      });
}

}  // namespace
}  // namespace tutti
