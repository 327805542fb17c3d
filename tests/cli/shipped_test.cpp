// SPDX-License-Identifier: Apache-2.0
// Recipes and machines that come with the program, named from a folder where there are none.
#include "cli/run_cli.h"

namespace tutti::cli {
namespace {

Words shortened(Words words) {
  for (const char* change : {"train.steps=2", "train.evaluate_every=0", "machine.threads=1"})
    words.insert(words.end(), {"--set", change});
  return words;
}

TEST(ShippedRecipe, IsTrainedByNameWithFoldersOrWithout) {
  Sandbox sandbox;
  for (const char* name : {"async", "schemes/async", "recipes/schemes/async"}) {
    const Result result = sandbox.run(shortened({"train", name}));
    expect_success(result);
    expect_in(result.out, {"async: mlp on digits", "after 2 steps"});
  }
  EXPECT_TRUE(sandbox.has("runs/async-3/checkpoint.safetensors"));
}

TEST(ShippedRecipe, AFileOfThatNameComesBeforeIt) {
  Sandbox sandbox;
  sandbox.write("async", small_recipe);
  expect_in(sandbox.run(shortened({"train", "async"})).out, {"async: mlp on synthetic"});
  std::filesystem::create_directory(sandbox.file("bf16"));  // there is nothing to read in a folder
  expect_in(sandbox.run(shortened({"train", "bf16"})).out, {"bf16: lenet on digits"});
}

TEST(ShippedRecipe, EveryCommandThatTakesOneFindsIt) {
  Sandbox sandbox;
  expect_success(sandbox.run(shortened({"launch", "-n", "2", "--", "train", "tokens"})));
  expect_success(sandbox.run({"eval", "tokens"}));
  expect_in(sandbox.run({"predict", "tokens", "--test"}).out, {"test[0]"});
  expect_success(
      sandbox.run({"stack", "dsn", "--set", "model.modules=1", "--set", "model.hidden=8"}));
  expect_in(sandbox.run({"tune", "large-batch"}).out, {"nothing to tune"});
  expect_in(sandbox.run({"show", "sharded"}).out, {"256×512", "this rank's 50 % of"});
  expect_in(sandbox.run({"train", "sharded", "--simulate"}).out, {"2 ranks"});
  const Result resumed = sandbox.run({"train", "tokens", "--resume", "--set", "train.steps=3"});
  expect_in(resumed.out, {"resumed at step 2"});
}

// `tutti train` and `tutti train digits` are runs of one recipe.
TEST(ShippedRecipe, TheDefaultRecipeHasANameToo) {
  Sandbox sandbox;
  expect_success(sandbox.run(shortened({"train"})));
  expect_success(sandbox.run({"eval", "digits"}));
}

TEST(ShippedRecipe, ModelsComeFirstWhereTheyAreLookedAt) {
  Sandbox sandbox;
  expect_in(sandbox.run({"show", "mlp"}).out, {"32×1024"});
  expect_in(sandbox.run({"show", "recipes/mlp"}).out, {"64×256", "2 ranks"});
  expect_in(sandbox.run({"train", "mlp", "--simulate"}).out, {"1 rank "});
  expect_in(sandbox.run({"train", "recipes/mlp", "--simulate"}).out, {"2 ranks"});
  expect_in(sandbox.run(shortened({"train", "mlp"})).out, {"mlp: mlp on digits", "2 ranks"});
}

TEST(ShippedRecipe, UnknownNames) {
  Sandbox sandbox;
  for (const char* name : {"asynk", "schemes/asynk"})
    expect_failure(sandbox.run({"train", name}), 2,
                   {"unknown recipe '", name, "did you mean 'async'?", "tutti list recipes"});
  expect_failure(sandbox.run({"train", "xyzzy-plugh"}), 2, {"expected one of: alexnet, "});
  expect_failure(sandbox.run({"show", "asynk"}), 2,
                 {"unknown model or recipe 'asynk'", "'async'", "tutti list models"});
  expect_failure(sandbox.run({"train", "mnist.toml"}), 2,
                 {"there is no file mnist.toml", "'mnist'"});
  expect_failure(sandbox.run({"train", "recipes/mnist.toml"}), 2, {"'mnist'"});
}

TEST(ShippedMachine, IsFoundByName) {
  Sandbox sandbox;
  const auto simulate = [&](const char* machine) {
    return sandbox.run({"train", "mlp", "--simulate", "--ranks", "4", "--machine", machine});
  };
  for (const char* machine : {"ethernet10", "machines/infiniband100"})
    expect_success(simulate(machine));
  expect_failure(simulate("ethernet1"), 2,
                 {"unknown machine 'ethernet1'", "'ethernet10'", "tutti list machines"});
  expect_failure(simulate("lenet"), 2, {"unknown machine 'lenet'"});
  expect_failure(simulate("machines/ethernet10.toml"), 2, {"'ethernet10'"});
  expect_failure(simulate(""), 2, {"--machine", "empty"});
}

}  // namespace
}  // namespace tutti::cli
