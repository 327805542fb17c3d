// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

namespace tutti::cli {
namespace {

const Words as_stack = {"--set", "model.name=dsn", "--set", "model.hidden=12"};

Words with_stack(Words words) {
  words.insert(words.end(), as_stack.begin(), as_stack.end());
  return words;
}

// C16: what the command fits is a checkpoint like others.
TEST(StackCommand, FitsANetworkThatCanBeUsed) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  const Result result =
      sandbox.run(with_stack({"stack", "small.toml", "--set", "model.modules=2"}));
  expect_success(result);
  expect_in(result.out, {"module 1: mean squared training error 0.", "module 2:", "test accuracy",
                         "checkpoint runs/small/checkpoint.safetensors"});
  expect_success(sandbox.run({"report", "runs/small"}));
  expect_in(sandbox.read("report.html"), {"<title>Tutti: small</title>", "\"step\":[1,2]"});
  const Result again = sandbox.run({"eval", "--weights", "runs/small/checkpoint"});
  expect_success(again);
  const std::size_t at = result.out.find("test accuracy") + 14;
  EXPECT_TRUE(contains(again.out, result.out.substr(at, result.out.find(" %", at) - at)))
      << result.out << again.out;
}

TEST(StackCommand, Refusals) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  expect_failure(sandbox.run({"stack", "small.toml"}), 1, {"'mlp'", "expected 'dsn'"});
  EXPECT_EQ(sandbox.run(with_stack({"stack", "small.toml", "--ridge", "-1"})).code, 2);
}

}  // namespace
}  // namespace tutti::cli
