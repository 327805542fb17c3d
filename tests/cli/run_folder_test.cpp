// SPDX-License-Identifier: Apache-2.0
// No run destroys the results of another, and none ends without its own.
#include "cli/run_cli.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

namespace tutti::cli {
namespace {

class RunFolder : public testing::Test {
 protected:
  void SetUp() override { sandbox.write("small.toml", small_recipe); }
  Result train(const Words& more = {}) {
    Words words = {"train", "small.toml"};
    words.insert(words.end(), more.begin(), more.end());
    return sandbox.run(words);
  }
  std::string latest() const {
    return std::filesystem::read_symlink(sandbox.file("runs/latest")).string();
  }
  std::string weights(const std::string& folder) const {
    return sandbox.read(folder + "/checkpoint.safetensors");
  }
  // Waits until a run that was started has written its first steps.
  void wait_for_steps(const std::string& folder) const {
    for (int i = 0; i < 20000 && !contains(sandbox.read(folder + "/record.jsonl"), "\"step\""); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  Sandbox sandbox;
};

TEST_F(RunFolder, EachRunHasItsOwn) {
  expect_in(train().out, {"files go to runs/small\n"});
  const std::string first = weights("runs/small");
  expect_in(train({"--set", "train.seed=4"}).out, {"files go to runs/small-2\n"});
  EXPECT_EQ(latest(), "small-2");
  EXPECT_EQ(weights("runs/small"), first);
  EXPECT_NE(weights("runs/small-2"), first);
  EXPECT_FALSE(sandbox.has("runs/small/checkpoint.lock"));
}

TEST_F(RunFolder, IsTheOneAskedFor) {
  expect_success(train({"--out", "mine/first"}));
  EXPECT_TRUE(sandbox.has("mine/first/checkpoint.safetensors"));
  EXPECT_FALSE(sandbox.has("runs"));
  const std::string before = weights("mine/first");
  expect_failure(train({"--out", "mine/first", "--set", "train.seed=4"}), 1,
                 {"mine/first/checkpoint.safetensors", "--resume", "--overwrite"});
  EXPECT_EQ(weights("mine/first"), before);
  expect_success(train({"--out", "mine/first", "--set", "train.seed=4", "--overwrite"}));
  EXPECT_NE(weights("mine/first"), before);
}

TEST_F(RunFolder, NamedFilesAreNotReplacedEither) {
  const Words named = {"--set", "train.checkpoint=c", "--set", "train.record=r.jsonl"};
  expect_success(train(named));
  expect_failure(train(named), 1, {"c.safetensors", "--overwrite"});
  std::filesystem::remove(sandbox.file("c.safetensors"));
  std::filesystem::remove(sandbox.file("c.best.safetensors"));
  std::filesystem::remove(sandbox.file("c.state"));
  expect_failure(train(named), 1, {"r.jsonl", "--overwrite"});
}

TEST_F(RunFolder, ResumesTheLatestOfTheRecipe) {
  std::filesystem::create_directory(sandbox.file("a"));
  std::filesystem::create_directory(sandbox.file("b"));
  sandbox.write("a/x.toml", small_recipe);
  sandbox.write("b/x.toml", small_recipe);
  expect_in(sandbox.run({"train", "a/x.toml"}).out, {"files go to runs/x\n"});
  expect_in(sandbox.run({"train", "a/x.toml"}).out, {"files go to runs/x-2\n"});
  expect_in(sandbox.run({"train", "b/x.toml"}).out, {"files go to runs/x-3\n"});
  const Result resumed = sandbox.run({"train", "a/x.toml", "--resume", "--set", "train.steps=25"});
  expect_in(resumed.out, {"files go to runs/x-2\n", "resumed at step 20"});
  EXPECT_EQ(latest(), "x-2");
  const Result named =
      sandbox.run({"train", "a/x.toml", "--resume", "--out", "runs/x", "--set", "train.steps=25"});
  expect_in(named.out, {"files go to runs/x\n", "resumed at step 20"});
}

TEST_F(RunFolder, OfAnotherRecipeIsNotResumed) {
  std::filesystem::create_directory(sandbox.file("b"));
  sandbox.write("b/small.toml", small_recipe);
  expect_success(train());
  expect_failure(sandbox.run({"train", "b/small.toml", "--resume"}), 1,
                 {"no run of b/small.toml", "train it first"});
  expect_failure(sandbox.run({"eval", "b/small.toml"}), 1, {"no run of b/small.toml"});
  const Result same = sandbox.run({"train", "./small.toml", "--resume"});
  expect_success(same);
  expect_in(same.out, {"files go to runs/small\n"});
}

// The link points elsewhere as soon as another run begins.
TEST_F(RunFolder, BehindALinkIsTheOneItPointedAt) {
  expect_success(train());
  const Result resumed = train({"--resume", "--out", "runs/latest", "--set", "train.steps=25"});
  expect_success(resumed);
  expect_in(resumed.out, {"files go to runs/small\n", "resumed at step 20"});
}

TEST_F(RunFolder, IsReplacedOnlyWhenTheRunBegins) {
  expect_success(train({"--out", "f"}));
  const std::string before = weights("f");
  expect_failure(
      train({"--out", "f", "--overwrite", "--set", "train.batch=59", "--set", "partition.data=2"}),
      1, {"the last batch"});
  expect_failure(train({"--out", "f", "--overwrite", "--set", "train.from=f/checkpoint"}), 1,
                 {"train.from", "--overwrite would replace"});
  EXPECT_EQ(weights("f"), before);
}

TEST_F(RunFolder, EvaluatesTheLatest) {
  expect_failure(sandbox.run({"eval"}), 1, {"runs/latest", "train first"});
  expect_success(train({"--set", "train.steps=1"}));
  expect_success(train());
  expect_in(sandbox.run({"eval"}).out, {"test accuracy 100.00 %"});
  expect_in(sandbox.run({"eval", "small.toml"}).out, {"test accuracy 100.00 %"});
}

TEST_F(RunFolder, IsUsedByOneRunAtATime) {
  const pid_t first = sandbox.start({"train", "small.toml", "--set", "train.steps=1000000000"});
  wait_for_steps("runs/small");
  const std::string command =
      fmt::format("cd '{}' && '{}' train small.toml --out runs/small --resume 2>err >out",
                  sandbox.file(""), TUTTI_CLI);
  // It has no checkpoint yet, so that there is nothing to go on from; one that replaces must wait.
  EXPECT_NE(std::system(command.c_str()), 0);
  const std::string replacing =
      fmt::format("cd '{}' && '{}' train small.toml --out runs/small --overwrite 2>err >out",
                  sandbox.file(""), TUTTI_CLI);
  EXPECT_EQ(WEXITSTATUS(std::system(replacing.c_str())), 1);
  expect_in(sandbox.read("err"),
            {"runs/small/checkpoint is in use by process", std::to_string(first).c_str(), "--out"});
  ::kill(first, SIGTERM);
  EXPECT_EQ(sandbox.wait(first).code, 128 + SIGTERM);
  EXPECT_TRUE(sandbox.has("runs/small/checkpoint.state"));
}

TEST_F(RunFolder, OfAKilledRunIsFree) {
  const pid_t first = sandbox.start({"train", "small.toml", "--set", "train.steps=1000000000",
                                     "--set", "train.checkpoint_every=1"});
  for (int i = 0; i < 20000 && !sandbox.has("runs/small/checkpoint.state"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(first, SIGKILL);
  sandbox.wait(first);
  EXPECT_TRUE(sandbox.has("runs/small/checkpoint.lock"));
  expect_success(
      train({"--resume", "--set", "train.steps=1000000000", "--set", "train.wall_time=0.1"}));
  EXPECT_FALSE(sandbox.has("runs/small/checkpoint.lock"));
}

TEST_F(RunFolder, ThatStaysEmptyIsRemoved) {
  expect_failure(train({"--set", "train.batch=59", "--set", "partition.data=2"}), 1,
                 {"the last batch of an epoch has 1 samples"});
  EXPECT_FALSE(sandbox.has("runs/small"));
  EXPECT_FALSE(sandbox.has("runs/latest"));
}

// A launched run must not go on from another, whatever lies about.
TEST_F(RunFolder, IsFixedBeforeTheFirstAttempt) {
  expect_success(train());
  const std::string before = weights("runs/small");
  const Result result =
      sandbox.run({"launch", "-n", "2", "--retries", "1", "--", "train", "small.toml", "--set",
                   "machine.fault=throw 1 9", "--set", "train.checkpoint_every=4"});
  EXPECT_EQ(result.code, 0) << result.err;
  expect_in(result.out, {"files go to runs/small-2\n", "resumed at step 8"});
  EXPECT_EQ(weights("runs/small"), before);
  EXPECT_FALSE(sandbox.has("runs/small-3"));
}

// Without a checkpoint yet, the next attempt begins anew where the first one did.
TEST_F(RunFolder, OfAnAttemptThatLeftNoCheckpointIsBegunAnew) {
  for (const Words& more : {Words{}, Words{"--overwrite"}}) {
    Words words = {"launch", "-n",    "2",          "--retries", "1",
                   "--",     "train", "small.toml", "--set",     "machine.fault=throw 1 2"};
    words.insert(words.end(), more.begin(), more.end());
    const Result result = sandbox.run(words);
    EXPECT_EQ(result.code, 1);
    expect_in(result.err, {"attempt 2 of 2, from the start"});
    EXPECT_EQ(result.err.find("earlier run"), std::string::npos) << result.err;
  }
  EXPECT_FALSE(sandbox.has("runs/small-2"));
}

// `tutti train | head -1`
TEST_F(RunFolder, AReaderThatGoesAwayEndsNothing) {
  const std::string command = fmt::format(
      "cd '{}' && ('{}' train small.toml --set train.steps=300; echo $? >code) | head -1 "
      ">out",
      sandbox.file(""), TUTTI_CLI);
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(sandbox.read("code"), "0\n");
  EXPECT_TRUE(sandbox.has("runs/small/checkpoint.state"));
}

TEST_F(RunFolder, AClosedOutputEndsNothing) {
  const std::string command =
      fmt::format("cd '{}' && '{}' train small.toml >&- 2>err", sandbox.file(""), TUTTI_CLI);
  EXPECT_EQ(std::system(command.c_str()), 0) << sandbox.read("err");
  EXPECT_TRUE(sandbox.has("runs/small/checkpoint.state"));
  EXPECT_TRUE(sandbox.read("runs/small/record.jsonl").starts_with("{")) << "nothing else in it";
}

TEST_F(RunFolder, NohupIsRespected) {
  const std::string command = fmt::format(
      "cd '{}' && trap '' HUP && exec '{}' train small.toml --set train.steps=1000000000 --set "
      "train.wall_time=1 >out 2>err",
      sandbox.file(""), TUTTI_CLI);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  wait_for_steps("runs/small");
  ::kill(child, SIGHUP);
  const Result result = sandbox.wait(child);
  EXPECT_EQ(result.code, 0);
  expect_in(sandbox.read("out"), {"the wall time is over"});
}

TEST_F(RunFolder, ASecondSignalSaysWhatIsLost) {
  const pid_t child = sandbox.start({"train", "small.toml", "--set", "machine.fault=hang 0 3"});
  wait_for_steps("runs/small");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ::kill(child, SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ::kill(child, SIGINT);
  const Result result = sandbox.wait(child);
  EXPECT_EQ(result.code, 128 + SIGINT);
  expect_in(result.err, {"a second signal", "since the last checkpoint is lost"});
}

}  // namespace
}  // namespace tutti::cli
