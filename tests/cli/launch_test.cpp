// SPDX-License-Identifier: Apache-2.0
// tutti launch with threads; tests/mpi has the same with processes.
#include "cli/run_cli.h"

#include <unistd.h>

#include <csignal>

namespace tutti::cli {
namespace {

class Launch : public testing::Test {
 protected:
  void SetUp() override { sandbox.write("small.toml", small_recipe); }
  Result launch(const Words& options, const std::string& fault, const Words& more = {}) {
    Words words = {"launch", "-n", "3"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(),
                 {"--", "train", "small.toml", "--set", "exchange.order=fixed", "--set",
                  "machine.fault=" + fault, "--set", "train.checkpoint_every=4"});
    words.insert(words.end(), more.begin(), more.end());
    return sandbox.run(words);
  }
  Sandbox sandbox;
};

TEST_F(Launch, TrainsAsTrainDoes) {
  const Result result = launch({}, "none");
  expect_success(result);
  expect_in(result.out, {"3 ranks", "all steps are done after 20 steps"});
}

TEST_F(Launch, ARankThatThrowsIsNamed) {
  expect_failure(launch({}, "throw 1 9"), 1, {"rank 1 failed", "step 9"});
}

TEST_F(Launch, AProcessThatIsKilledOrEndsIsNoticed) {
  expect_failure(launch({}, "kill 1 9"), 128 + SIGKILL, {"signal 9 (Killed)"});
  expect_failure(launch({}, "exit 1 9"), 9, {"exit code 9, without a word"});
}

TEST_F(Launch, ARankThatHangsIsNamedWithWhatOthersWaitFor) {
  expect_failure(launch({"--timeout", "0.5"}, "hang 1 9"), 1,
                 {"it has waited 0.5 s for", "rank 1 is in", "rank 1 does not end"});
}

TEST_F(Launch, GoesOnFromTheLastCheckpointAndEndsWithTheSameBits_L01) {
  expect_success(launch({}, "none", {"--set", "train.checkpoint=whole"}));
  for (const char* fault : {"throw 2 9", "kill 0 9"}) {
    const Result result =
        launch({"--retries", "1"}, fault, {"--overwrite", "--set", "train.checkpoint=again"});
    EXPECT_EQ(result.code, 0) << result.err;
    expect_in(result.err, {"attempt 2 of 2, from the last checkpoint"});
    expect_in(result.out, {"resumed at step 8"});
    EXPECT_TRUE(sandbox.read("whole.safetensors") == sandbox.read("again.safetensors"));
    EXPECT_TRUE(sandbox.read("whole.state") == sandbox.read("again.state"));
  }
}

TEST_F(Launch, AnOlderCheckpointIsNotGoneOnFrom) {
  expect_success(launch({}, "none"));
  const Result result = launch({"--retries", "1"}, "throw 1 2");
  expect_in(result.err, {"attempt 2 of 2, from the start"});
  EXPECT_EQ(result.code, 1);
}

TEST_F(Launch, WhatIsWrongWithTheRecipeIsNotTriedAgain) {
  expect_failure(launch({"--retries", "3"}, "none", {"--set", "train.stepz=3"}), 2, {"stepz"});
  expect_failure(sandbox.run({"launch", "-n", "2", "--", "show", "lenet"}), 2, {"-- train"});
  expect_failure(sandbox.run({"launch", "-n", "0", "--", "train"}), 2,
                 {"--ranks", "0 not in range"});
}

TEST_F(Launch, ASignalIsPassedOnAndEndsWell) {
  const pid_t child = sandbox.start({"launch", "-n", "2", "--retries", "3", "--", "train",
                                     "small.toml", "--set", "train.steps=100000000"});
  ::usleep(700000);
  ::kill(child, SIGTERM);
  const Result result = sandbox.wait(child);
  EXPECT_EQ(result.code, 128 + SIGTERM) << result.err;
  expect_in(result.out, {"--resume --out runs/small"});
  EXPECT_TRUE(sandbox.has("runs/small/checkpoint.state"));
}

}  // namespace
}  // namespace tutti::cli
