// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"
#include "tutti/checkpoint/safetensors.h"

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
    EXPECT_TRUE(result.out.starts_with(expected)) << result.out;
  }
}

// The weights file says which network it holds; .state and recipe need not be there.
TEST(Eval, WeightsAloneAreEnough) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  expect_success(sandbox.run({"train", "small.toml", "--quiet", "--set", "train.steps=2"}));
  const Result whole = sandbox.run({"eval", "small.toml"});
  std::filesystem::remove(sandbox.file("small.toml"));
  std::filesystem::rename(sandbox.file("runs/small/checkpoint.safetensors"),
                          sandbox.file("w.safetensors"));
  const Result alone = sandbox.run({"eval", "--weights", "w"});
  expect_success(alone);
  EXPECT_EQ(alone.out, whole.out);
}

// Where nothing says which network it is, none is supposed.
TEST(Eval, WeightsOfOtherToolsNeedARecipe) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  expect_success(sandbox.run({"train", "small.toml", "--quiet", "--set", "train.steps=2"}));
  const Result whole = sandbox.run({"eval", "small.toml"});
  const std::string file = sandbox.file("runs/small/checkpoint.safetensors");
  write_safetensors(file, read_safetensors(file).tensors, {});
  std::filesystem::remove(sandbox.file("runs/small/checkpoint.state"));
  expect_failure(sandbox.run({"eval", "--weights", "runs/small/checkpoint"}), 1,
                 {"runs/small/checkpoint", "does not say which network it holds", "recipe"});
  const Result by_recipe =
      sandbox.run({"eval", "small.toml", "--weights", "runs/small/checkpoint"});
  expect_success(by_recipe);
  EXPECT_EQ(by_recipe.out, whole.out);
}

// Every test sample is counted once, and the diagonal is the accuracy.
TEST(Eval, PrintsWhatIsConfused) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  expect_success(sandbox.run({"train", "small.toml", "--quiet", "--set", "train.steps=2"}));
  const Result text = sandbox.run({"eval", "small.toml"});
  expect_in(text.out, {"class  precision  recall  f1", "support", "a row for each true class"});
  const Result json = sandbox.run({"eval", "small.toml", "--json"});
  expect_success(json);
  const auto object = nlohmann::json::parse(json.out);
  EXPECT_EQ(object["samples"], 30);
  ASSERT_EQ(object["confusion"].size(), 3u);
  int right = 0, all = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    int of_class = 0;
    for (const auto& count : object["confusion"][i]) of_class += count.get<int>();
    EXPECT_EQ(object["classes"][i]["support"], of_class);
    EXPECT_EQ(object["classes"][i]["name"], std::to_string(i));
    right += object["confusion"][i][i].get<int>();
    all += of_class;
  }
  EXPECT_EQ(all, 30);
  EXPECT_DOUBLE_EQ(object["accuracy"].get<double>(), right / 30.0);
}

TEST(Eval, ManyClassesArePairs) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  const Words many = {"--set", "data.classes=21", "--set", "train.steps=1"};
  Words train = {"train", "small.toml", "--quiet"}, eval = {"eval", "small.toml"};
  for (Words* words : {&train, &eval}) words->insert(words->end(), many.begin(), many.end());
  expect_success(sandbox.run(train));
  const Result result = sandbox.run(eval);
  expect_success(result);
  expect_in(result.out, {"Most confused classes:", "taken for"});
  EXPECT_FALSE(contains(result.out, "a row for each")) << result.out;
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
