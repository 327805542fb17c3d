// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

namespace tutti::cli {
namespace {

const char* const rest = R"(
[[model.layers]]
type = "flatten"
[[model.layers]]
type = "linear"
units = 3
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

std::string recipe(const std::string& first) {
  return "[[model.layers]]\nname = \"conv\"\n" + first + rest;
}

// B32: with full ranks the factors are the kernel, and the network says the same.
TEST(TuckerCommand, FullRanksLeaveTheNetworkAsItIs) {
  Sandbox sandbox;
  sandbox.write("dense.toml", recipe("type = \"convolution\"\nchannels = 4\nkernel = 3\n"));
  sandbox.write(
      "factors.toml",
      recipe("type = \"tucker_convolution\"\nchannels = 4\nkernel = 3\nranks = [2, 4]\n"));
  expect_success(sandbox.run({"train", "dense.toml", "--quiet"}));
  const Result result =
      sandbox.run({"tucker", "runs/dense/checkpoint", "conv", "2", "4", "factors"});
  expect_success(result);
  expect_in(result.out, {"conv.weight: 72 becomes 92 parameters", "relative error at most"});
  const Result dense = sandbox.run({"eval", "dense.toml"});
  const Result factored = sandbox.run({"eval", "factors.toml", "--weights", "factors"});
  expect_success(factored);
  // Up to the last digit, in which rounding shows.
  EXPECT_EQ(dense.out.substr(0, 15), factored.out.substr(0, 15));
}

TEST(TuckerCommand, Refusals) {
  Sandbox sandbox;
  sandbox.write("dense.toml", recipe("type = \"convolution\"\nchannels = 4\nkernel = 3\n"));
  expect_success(sandbox.run({"train", "dense.toml", "--quiet"}));
  expect_failure(sandbox.run({"tucker", "runs/dense/checkpoint", "cnov", "1", "1", "out"}), 1,
                 {"has no floating-point tensor 'cnov.weight'"});
  expect_failure(sandbox.run({"tucker", "runs/dense/checkpoint", "conv", "3", "1", "out"}), 1,
                 {"ranks 3 and 1 of a kernel 4×2×3×3"});
  expect_failure(sandbox.run({"tucker", "none", "conv", "3", "1", "out"}), 1, {"none.safetensors"});
}

}  // namespace
}  // namespace tutti::cli
