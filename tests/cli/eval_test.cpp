// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

#include <nlohmann/json.hpp>

namespace tutti::cli {
namespace {

// The last line of the record.
nlohmann::json summary_of(const std::string& record) {
  return nlohmann::json::parse(record.substr(record.rfind('\n', record.size() - 2) + 1));
}

TEST(Eval, SaysWhatTrainingSaid) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  expect_success(sandbox.run({"train", "small.toml", "--quiet", "--set", "train.steps=2"}));
  const auto summary = summary_of(sandbox.read("runs/small/record.jsonl"));
  const std::string expected =
      fmt::format("test loss {:.6f}  test accuracy {:.2f} %  30 samples\n",
                  summary["test_loss"].get<double>(), 100 * summary["test_accuracy"].get<double>());
  for (const Words& words : {Words{"eval", "small.toml"},
                             {"eval", "--weights", "runs/small/checkpoint"},
                             {"eval", "small.toml", "-w", "runs/small/checkpoint.safetensors"}}) {
    const Result result = sandbox.run(words);
    expect_success(result);
    EXPECT_EQ(result.out, expected);
  }
}

TEST(Eval, B03InEightBits) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  const Words floats = {"--set", "train.dtype=f32", "--set", "machine.backend=cpu"};
  Words train = {"train", "small.toml", "--quiet", "--set", "train.steps=2"};
  Words eval = {"eval", "small.toml", "--set", "kernels.precision=int8"};
  for (Words* words : {&train, &eval}) words->insert(words->end(), floats.begin(), floats.end());
  expect_success(sandbox.run(train));
  const Result result = sandbox.run(eval);
  expect_success(result);
  EXPECT_TRUE(contains(result.out, "test accuracy ")) << result.out;
  train.insert(train.end(), {"--set", "kernels.precision=int8"});
  expect_failure(sandbox.run(train), 1, {"int8", "tutti eval", "train with f32"});
}

TEST(Eval, RegressionHasNoAccuracy) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  const Words changes = {"--set", "data.targets=2", "--set", "train.steps=2"};
  Words train = {"train", "small.toml", "--quiet"}, eval = {"eval", "small.toml"};
  for (Words* words : {&train, &eval}) words->insert(words->end(), changes.begin(), changes.end());
  expect_success(sandbox.run(train));
  const Result result = sandbox.run(eval);
  expect_success(result);
  EXPECT_TRUE(contains(result.out, "test loss ")) << result.out;
  EXPECT_FALSE(contains(result.out, "accuracy")) << result.out;
}

TEST(Eval, NeedsWeights) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  expect_failure(sandbox.run({"eval", "small.toml"}), 1, {"runs/small/checkpoint.safetensors"});
  expect_failure(sandbox.run({"eval", "small.toml", "--set", "train.checkpoint=none"}), 2,
                 {"--weights"});
}

}  // namespace
}  // namespace tutti::cli
