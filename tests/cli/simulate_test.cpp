// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

#include <nlohmann/json.hpp>

namespace tutti::cli {
namespace {

TEST(Simulate, PredictsAStepOfManyRanks_K05) {
  Sandbox sandbox;
  const Result result = sandbox.run({"train", "lenet", "--simulate", "--ranks", "64", "--set",
                                     "train.batch=4096", "--trace", "trace.json"});
  expect_success(result);
  expect_in(result.out, {"64 ranks", "64 of 4096 samples each", "step", "samples per second",
                         "computing", "waiting", "sent", "reduce_scatter by ", "allgather by ",
                         "messages simulated in", "trace trace.json"});
  const auto trace = nlohmann::json::parse(sandbox.read("trace.json"));
  EXPECT_GT(trace["traceEvents"].size(), 100u);
  EXPECT_EQ(sandbox.files(), (Words{"trace.json"}));
}

TEST(Simulate, AMachineIsDescribedByAFile) {
  Sandbox sandbox;
  sandbox.write("slow.toml", "[simulation]\nlatency = 0.5\nspeed = 2.0\n");
  const Words words = {"train", "mlp", "--simulate", "--ranks", "2", "--machine", "slow.toml"};
  const Result slow = sandbox.run(words);
  expect_success(slow);
  expect_in(slow.out, {"100 % of the step"});
  sandbox.write("wrong.toml", "[train]\nbatch = 1\n");
  expect_failure(sandbox.run({"train", "--simulate", "--machine", "wrong.toml"}), 2,
                 {"wrong.toml", "[simulation]", "[train]"});
  sandbox.write("misspelt.toml", "[simulation]\nlatenzy = 0.5\n");
  expect_failure(sandbox.run({"train", "--simulate", "--machine", "misspelt.toml"}), 2,
                 {"misspelt.toml:2", "latenzy", "latency"});
}

TEST(Simulate, OptionsWithoutItAreRefused) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"train", "--ranks", "4"}), 2, {"--simulate", "partition.data"});
}

}  // namespace
}  // namespace tutti::cli
