// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <csignal>
#include <sstream>
#include <thread>

namespace tutti::cli {
namespace {

using Json = nlohmann::json;

std::vector<Json> lines_of(const std::string& record) {
  std::vector<Json> lines;
  std::istringstream in(record);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

TEST(Train, SmallRecipeFromEndToEnd) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  const Result result = sandbox.run({"train", "small.toml"});
  expect_success(result);
  expect_in(result.out,
            {"epoch 1", "all steps are done after 20 steps", "test accuracy 100.00 %",
             "checkpoint runs/small/checkpoint.safetensors", "record runs/small/record.jsonl"});
  EXPECT_FALSE(contains(result.out, "\r") || contains(result.out, "\033")) << result.out;
  EXPECT_EQ(sandbox.files(),
            (Words{"runs/small/checkpoint.best.safetensors", "runs/small/checkpoint.safetensors",
                   "runs/small/checkpoint.state", "runs/small/record.jsonl", "small.toml"}));
  const std::vector<Json> lines = lines_of(sandbox.read("runs/small/record.jsonl"));
  EXPECT_EQ(lines.front()["kind"], "settings");
  EXPECT_EQ(lines.front()["recipe"]["train"]["batch"], 12);
  EXPECT_EQ(lines.back()["kind"], "summary");
  EXPECT_EQ(lines.back()["steps"], 20);
}

TEST(Train, DefaultRecipeAndTwoRanks) {
  Sandbox sandbox;
  const Result result =
      sandbox.run({"train", "--set", "train.steps=2", "--set", "partition.data=2", "--set",
                   "machine.threads=1", "--set", "train.evaluate_every=0"});
  expect_success(result);
  expect_in(result.out, {"61706 parameters", "2 ranks × 1 thread", "after 2 steps"});
}

TEST(Train, TheNetworkOfTheDocs) {
  const std::string page = read_bytes(TUTTI_SOURCE_DIR "/docs/networks.md");
  const std::size_t begin = page.find("```toml\n") + 8, end = page.find("```", begin);
  ASSERT_LT(end, page.size());
  Sandbox sandbox;
  sandbox.write("own.toml", page.substr(begin, end - begin));
  const Result result =
      sandbox.run({"train", "own.toml", "--set", "train.epochs=1", "--set", "machine.threads=1"});
  expect_success(result);
  expect_in(result.out, {"own: own layers on digits", "epoch 1/1"});
}

TEST(Train, AModelIsNoRecipe) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"train", "lenet"}), 2,
                 {"there is no recipe lenet", "--set model.name=lenet"});
}

TEST(Train, QuietSaysNothing) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  const Result result = sandbox.run({"train", "small.toml", "--quiet"});
  expect_success(result);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(sandbox.has("runs/small/checkpoint.safetensors"));
}

TEST(Train, RewritesOneLineOnATerminal) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  const Result result = sandbox.run_on_terminal(
      {"train", "small.toml", "--set", "train.steps=1000000000", "--set", "data.count=100000000",
       "--set", "train.wall_time=0.5", "--set", "train.evaluate_every=0"});
  EXPECT_EQ(result.code, 0) << result.out;
  expect_in(result.out, {"\r\033[K", "epoch 0.0  step ", "the wall time is over"});
  const std::size_t begin = result.out.find("epoch 0.0"), end = result.out.find('\r', begin);
  EXPECT_LT(end - begin, 60u) << "a line longer than the terminal can't be rewritten";
}

TEST(Train, WithoutAnyPassTheSameLoss) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  const auto loss = [&](const Words& more) {
    Words words = {"train", "small.toml",           "--quiet", "--set",        "model.name=lenet",
                   "--set", "data.shape=[1,28,28]", "--set",   "train.steps=3"};
    words.insert(words.end(), more.begin(), more.end());
    expect_success(sandbox.run(words));
    return lines_of(sandbox.read("runs/latest/record.jsonl")).back()["test_loss"].get<double>();
  };
  const double whole = loss({});
  EXPECT_TRUE(std::isfinite(whole));
  for (const char* pass : {"fuse", "layout", "memory", "dead_code"})
    EXPECT_NEAR(loss({"--without-pass", pass}), whole, 1e-5) << pass;
}

// Signals a training when its first steps are recorded.
Result stopped_by(Sandbox& sandbox, int number, const Words& words) {
  const pid_t child = sandbox.start(words);
  for (int i = 0; i < 20000 && !contains(sandbox.read("runs/small/record.jsonl"), "\"step\""); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(child, number);
  return sandbox.wait(child);
}

std::int64_t steps_in(const std::string& out) {
  const std::size_t at = out.find(" after ");
  return at == std::string::npos ? -1 : std::stoll(out.substr(at + 7));
}

// L01: stopped by a signal and resumed = never stopped, bit for bit.
void stop_and_resume(int number, int code, const Words& changes) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  const auto train = [&](const char* steps, const Words& more) {
    Words words = {"train", "small.toml", "--set", fmt::format("train.steps={}", steps)};
    words.insert(words.end(), changes.begin(), changes.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Result stopped = stopped_by(sandbox, number, train("1000000000", {}));
  EXPECT_EQ(stopped.code, code) << stopped.out << stopped.err;
  EXPECT_EQ(stopped.err, "");
  expect_in(stopped.out,
            {"stopped by signal", "to go on: ", "tutti train small.toml --set ",
             " --resume --out runs/small", "checkpoint runs/small/checkpoint.safetensors"});
  const std::int64_t done = steps_in(stopped.out);
  ASSERT_GT(done, 0) << stopped.out;

  expect_success(sandbox.run({"eval", "small.toml"}));  // the checkpoint is whole
  const std::string end = std::to_string(done + 7);
  const Result resumed = sandbox.run(train(end.c_str(), {"--resume"}));
  expect_success(resumed);
  expect_in(resumed.out, {fmt::format("resumed at step {}", done).c_str()});
  const std::string weights = sandbox.read("runs/small/checkpoint.safetensors");
  const std::string state = sandbox.read("runs/small/checkpoint.state");

  expect_success(sandbox.run(train(end.c_str(), {"--quiet"})));
  EXPECT_FALSE(weights.empty());
  EXPECT_EQ(weights, sandbox.read("runs/small-2/checkpoint.safetensors"));
  EXPECT_EQ(state, sandbox.read("runs/small-2/checkpoint.state"));
}

TEST(Train, StopsAtSigtermAndResumes) { stop_and_resume(SIGTERM, 143, {}); }
TEST(Train, StopsAtSigusr1AndResumes) { stop_and_resume(SIGUSR1, 138, {}); }
TEST(Train, StopsAtCtrlCAndResumes) { stop_and_resume(SIGINT, 130, {}); }
TEST(Train, StopsWhenItsTerminalGoesAndResumes) { stop_and_resume(SIGHUP, 129, {}); }
TEST(Train, StopsTwoRanksAndResumes) {
  stop_and_resume(SIGTERM, 143, {"--set", "partition.data=2", "--set", "exchange.order=fixed"});
}

TEST(Train, TheCommandToGoOnIsQuotedForAShell) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  const Result stopped = stopped_by(sandbox, SIGTERM,
                                    {"train", "small.toml", "--set", "train.steps=1000000000",
                                     "--set", "model.hidden=[8, 4]", "--without-pass", "fuse"});
  expect_in(stopped.out,
            {"--set 'model.hidden=[8, 4]' --without-pass fuse --resume --out runs/small"});
}

TEST(Train, ResumeNeedsTheSameRecipe) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  expect_failure(sandbox.run({"train", "small.toml", "--resume"}), 1,
                 {"runs/small/checkpoint.safetensors", "there is no checkpoint"});
  expect_success(sandbox.run({"train", "small.toml", "--quiet"}));
  expect_failure(sandbox.run({"train", "small.toml", "--resume", "--set", "train.batch=6"}), 1,
                 {"train.batch", "12", "6"});
}

}  // namespace
}  // namespace tutti::cli
