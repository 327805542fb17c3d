// SPDX-License-Identifier: Apache-2.0
// Sizes that nothing can hold and machines that have too little: one line that says what was asked
// for, never a crash.
#include "cli/run_cli.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti::cli {
namespace {

constexpr const char* convolution_recipe = R"([data]
name = "synthetic"
shape = [1, 8, 8]
classes = 3
count = 12
test_count = 6
[train]
steps = 1
batch = 4
[[model.layers]]
type = "convolution"
channels = 4
kernel = 3
padding = 1
[[model.layers]]
type = "flatten"
[[model.layers]]
type = "linear"
units = 3
)";

std::string with(const std::string& line, const std::string& other) {
  std::string text = convolution_recipe;
  return text.replace(text.find(line), line.size(), other);
}

TEST(Limits, HugeSettingsOfLayersAreNamed) {
  Sandbox sandbox;
  for (const char* value : {"1000000000000", "9223372036854775807"})
    for (const char* key : {"channels = ", "padding = ", "kernel = ", "units = "}) {
      const std::string name = std::string(key).substr(0, std::string(key).find(' '));
      const std::string line = key + std::string(name == "channels"  ? "4"
                                                 : name == "padding" ? "1"
                                                                     : "3");
      sandbox.write("huge.toml", with(line, key + std::string(value)));
      for (const char* command : {"show", "train"})
        expect_failure(sandbox.run({command, "huge.toml"}), 1,
                       {"huge.toml", name.c_str(), value, "at most 2147483647"});
    }
  // Each setting is moderate, what they make is not.
  sandbox.write("huge.toml", with("padding = 1", "padding = 1000000000"));
  expect_failure(sandbox.run({"show", "huge.toml"}), 1,
                 {"layer 1 (convolution)", "2000000006", "elements"});
  expect_failure(sandbox.run({"train", "huge.toml"}), 1, {"layer 1 (convolution)", "elements"});
}

TEST(Limits, HugeModelsAndBatchesAreNamed) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"show", "mlp", "--set", "model.hidden=[1000000000000]"}), 1,
                 {"mlp", "'hidden'", "1000000000000"});
  expect_failure(sandbox.run({"train", "--set", "model.name=mlp", "--set",
                              "model.hidden=[1000000000]", "--set", "train.steps=1"}),
                 1, {"not enough memory", "TiB"});
  expect_failure(sandbox.run({"show", "resnet50", "--batch", "100000000"}), 1,
                 {"100000000", "3×224×224", "train.batch"});
  for (const char* shape : {"[1000000000,1000000000,1000000000]", "[1000000000,1000]"}) {
    sandbox.write("huge.toml", with("[1, 8, 8]", shape));
    const Result result = sandbox.run({"train", "huge.toml"});
    expect_failure(result, 1, {});
    EXPECT_TRUE(contains(result.err, "elements") || contains(result.err, "memory")) << result.err;
  }
  // More than this machine has, but it is only looked at: show makes no weights.
  for (const std::vector<std::string>& subject :
       {std::vector<std::string>{"resnet18", "--batch", "100000"},
        {"mlp", "--set", "model.hidden=[1000000000]"}}) {
    std::vector<std::string> command = {"show"};
    command.insert(command.end(), subject.begin(), subject.end());
    const Result shown = sandbox.run(command);
    expect_success(shown);
    expect_in(shown.out, {"TiB"});
  }
}

// Sanitizers map terabytes.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Limits, LittleAddressSpaceEndsInOneLine) {
  Sandbox sandbox;
  sandbox.write("small.toml", convolution_recipe);
  for (const std::int64_t kilobytes : {90000, 110000, 130000, 150000, 200000, 400000})
    for (const Words& words :
         {Words{"show", "small.toml"}, Words{"train", "small.toml", "--quiet"},
          Words{"train", "small.toml", "--quiet", "--set", "partition.data=2"}}) {
      const Result result = sandbox.run(words, {.address_bytes = kilobytes * 1024});
      if (result.code == 0) continue;
      EXPECT_EQ(result.code, 1) << kilobytes << " " << words[0] << ": " << result.err;
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
      EXPECT_TRUE(contains(result.err, "not enough memory") || contains(result.err, "thread"))
          << result.err;
    }
}
#endif

}  // namespace
}  // namespace tutti::cli
