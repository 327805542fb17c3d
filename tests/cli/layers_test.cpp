// SPDX-License-Identifier: Apache-2.0
// Layers and losses as a user reaches them: from a recipe, through the whole engine.
#include "cli/run_cli.h"

namespace tutti::cli {
namespace {

const char* const tables = R"(
[data]
name = "synthetic"
shape = [2, 6, 6]
classes = 3
count = 24
test_count = 12
[train]
steps = 3
batch = 8
[machine]
threads = 1
)";

std::string layer(const std::string& type, const std::string& settings = "") {
  return fmt::format("[[model.layers]]\ntype = \"{}\"\n{}\n", type, settings);
}

std::string classifier(const std::string& before = "") {
  return before + layer("flatten") + layer("linear", "units = 3\nweight_norm = true");
}

TEST(LayersInRecipes, EachTrains) {
  const std::pair<const char*, const char*> layers[] = {
      {"layer_norm", ""},
      {"group_norm", "groups = 2"},
      {"rms_norm", ""},
      {"local_response", ""},
      {"parametric_relu", ""},
      {"parametric_relu", "shared = true"},
      {"transposed_convolution", "channels = 3\nkernel = 3\nstride = 2\noutput_padding = 1"},
      {"separable_convolution", "channels = 4\nkernel = 3"},
      {"tucker_convolution", "channels = 4\nkernel = 3\nranks = [1, 2]"},
      {"reshaped_convolution", "channels = 4\nkernel = 3\nrank = 2\nstride = [1, 2]"},
      {"similarity", "units = 3"},
      {"tiled_convolution", "channels = 2\nkernel = 3\nperiod = 2"},
      {"locally_connected", "channels = 2\nkernel = 3\nstride = 2"},
      {"upsample", "mode = \"linear\""},
      {"convolution", "channels = 4\nkernel = 3\nweight_norm = true"},
  };
  for (const auto& [type, settings] : layers) {
    Sandbox sandbox;
    sandbox.write("net.toml",
                  classifier((std::string(type) == "similarity" ? layer("flatten") : "") +
                             layer(type, settings)) +
                      tables);
    const Result result = sandbox.run({"train", "net.toml", "--quiet"});
    EXPECT_EQ(result.code, 0) << type << ": " << result.err;
    EXPECT_EQ(sandbox.run({"eval", "net.toml"}).code, 0) << type;
    const Result ranks = sandbox.run({"train", "net.toml", "--quiet", "--set", "partition.data=2"});
    EXPECT_EQ(ranks.code, 0) << type << ": " << ranks.err;
  }
}

TEST(LayersInRecipes, AnEmbeddingNamesTheRowThatIsNotThere) {
  Sandbox sandbox;
  sandbox.write("net.toml", layer("embedding", "rows = 2\nwidth = 3") + classifier() + tables);
  expect_failure(sandbox.run({"train", "net.toml", "--quiet"}), 1,
                 {"[embedding] element ", "expected 0 to 1"});
}

TEST(LossesInRecipes, SmoothingChangesTheLossOfTraining) {
  Sandbox sandbox;
  sandbox.write("net.toml", classifier() + tables);
  const auto weights = [&](const Words& more) {
    Words words = {"train", "net.toml", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    expect_success(sandbox.run(words));
    const std::string file = sandbox.read("runs/latest/checkpoint.safetensors");
    return file.substr(file.size() - 4 * 222);  // behind the metadata, which names the loss
  };
  const std::string smoothed =
      weights({"--set", "model.loss=cross_entropy", "--set", "model.smoothing=0.2"});
  EXPECT_EQ(weights({"--set", "model.smoothing=0.2"}), smoothed);
  EXPECT_NE(weights({}), smoothed);
  expect_failure(sandbox.run({"train", "net.toml", "--set", "model.loss=huber"}), 1,
                 {"loss 'huber' needs targets"});
  expect_failure(
      sandbox.run({"train", "net.toml", "--set", "model.loss=mse", "--set", "model.smoothing=0.2"}),
      2, {"smoothing"});
}

TEST(LossesInRecipes, HuberTrainsOnTargets) {
  Sandbox sandbox;
  sandbox.write("net.toml", classifier() + tables);
  expect_success(sandbox.run({"train", "net.toml", "--quiet", "--set", "data.targets=3", "--set",
                              "model.loss=huber", "--set", "model.delta=0.5"}));
}

}  // namespace
}  // namespace tutti::cli
