// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/progress.h"

#include <gtest/gtest.h>

#include <csignal>

namespace tutti {
namespace {

TEST(Progress, Duration) {
  EXPECT_EQ(duration(-1), "0 s");
  EXPECT_EQ(duration(41.2), "42 s");
  EXPECT_EQ(duration(185), "3 min 05 s");
  EXPECT_EQ(duration(7620), "2 h 07 min");
}

TEST(Progress, TimeLeft) {
  EXPECT_LT(seconds_left({}, 10, 10, 5), 0) << "a run without an end";
  EXPECT_EQ(seconds_left({.steps = 40}, 10, 10, 5), 15);
  EXPECT_EQ(seconds_left({.steps = 40}, 30, 10, 5), 5) << "20 of the steps were done before";
  EXPECT_EQ(seconds_left({.wall_time = 8}, 10, 10, 5), 3);
  EXPECT_EQ(seconds_left({.steps = 40, .wall_time = 8}, 10, 10, 5), 3);
  EXPECT_EQ(seconds_left({.wall_time = 8}, 10, 10, 9), 0);
}

TEST(Progress, Lines) {
  const StepReport report{.step = 870,
                          .epoch = 2,
                          .seconds = 3,
                          .loss = 0.12341,
                          .accuracy = 0.9625,
                          .absolute_error = 0.25,
                          .samples_per_second = 10200.4};
  EXPECT_EQ(progress_line(report, 10, true, 41.5),
            "epoch 2.0/10  step 870  loss 0.1234  accuracy 96.25 %  10200 samples/s  42 s left");
  EXPECT_EQ(progress_line(report, 0, false, -1),
            "epoch 2.0  step 870  loss 0.1234  absolute error 0.2500  10200 samples/s");
  const Evaluation evaluation{.loss = 0.5, .accuracy = 0.9};
  EXPECT_EQ(epoch_line(report, 10, true, &evaluation),
            "epoch 2/10  loss 0.1234  accuracy 96.25 %  test loss 0.5000  test accuracy 90.00 %  "
            "10200 samples/s");
}

TEST(Progress, EndingSaysHowToGoOn) {
  TrainSummary summary{.steps_done = 12,
                       .checkpoint_path = "a/b",
                       .why = TrainSummary::signal,
                       .signal_number = SIGTERM};
  const std::string text = ending(summary, true, "tutti train x.toml --resume");
  EXPECT_NE(text.find("stopped by signal 15"), std::string::npos) << text;
  EXPECT_NE(text.find("a/b.safetensors"), std::string::npos) << text;
  EXPECT_NE(text.find("to go on: tutti train x.toml --resume"), std::string::npos) << text;
}

}  // namespace
}  // namespace tutti
