// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

namespace tutti::cli {
namespace {

TEST(Show, LayersCostAndMemoryOfAModel) {
  Sandbox sandbox;
  const Result result = sandbox.run({"show", "lenet", "--batch", "128"});
  expect_success(result);
  expect_in(result.out, {"conv1", "convolution", "128×6×28×28", "61,706", "multiply–adds", "work W",
                         "depth D", "W/D", "arena", "live at once", "weights", "gradients",
                         "optimizer", "1 state vector", "total"});
  EXPECT_FALSE(contains(result.out, "[onednn]"));
  EXPECT_EQ(sandbox.files(), Words{}) << "looking leaves nothing";
}

TEST(Show, ARecipeWithItsChanges) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  const Result result = sandbox.run(
      {"show", "small.toml", "--set", "model.hidden=[5,7]", "--set", "optimizer.rule=adam"});
  expect_success(result);
  expect_in(result.out, {"12×5", "12×7", "fc3", "2 state vectors"});
}

TEST(Show, ARecipeThatNeverEnds) {
  Sandbox sandbox;
  sandbox.write("endless.toml", "[model]\nname = \"mlp\"\nhidden = [3]\n");
  expect_success(sandbox.run({"show", "endless.toml"}));
  expect_failure(sandbox.run({"train", "endless.toml"}), 2,
                 {"endless.toml", "nothing ends the run"});
}

TEST(Show, PassesAndGraph) {
  Sandbox sandbox;
  const Result result = sandbox.run({"show", "lenet", "--passes", "--graph"});
  expect_success(result);
  expect_in(result.out,
            {"autodiff", "dead_code", "fuse", "layout", "memory", " -> ", "= convolution(",
             "activation=\"relu\"", "= reorder(", "= update(", "[onednn]", "# conv1"});
  const Result plain = sandbox.run({"show", "lenet", "--graph", "--without-pass", "layout"});
  expect_success(plain);
  EXPECT_FALSE(contains(plain.out, "= reorder(")) << plain.out;
}

TEST(Show, B14ChangesOfLayoutAreNodesOfTheGraph) {
  Sandbox sandbox;
  const Result result = sandbox.run(
      {"show", "lenet", "--graph", "--batch", "4", "--set", "kernels.convolution=im2col-chwn"});
  expect_success(result);
  expect_in(result.out, {"[im2col-chwn]", "= reorder(", " chwn"});
}

TEST(Show, K01K02K03WorkAndDepth) {
  Sandbox sandbox;
  const Result result = sandbox.run({"show", "lenet", "--batch", "4", "--work-depth"});
  expect_success(result);
  expect_in(result.out, {"convolution_grad_weight", "log N + log H' + log W'", "By layer", "∇w",
                         "W FFT", "W Winograd", "backward", "max(W/p, D) <= T_p", "1024"});
  // What is corrected stands beside what is printed.
  expect_in(result.out,
            {"formula of D", "D as the survey prints it",
             "log Cout + log Ky + log Kx  log Cin + log Ky + log Kx", "tiles are m + r − 1 wide"});
}

TEST(Show, WhatARankKeepsAndAPassNeedsA09) {
  Sandbox sandbox;
  const Result result =
      sandbox.run({"show", "mlp", "--graph", "--batch", "16", "--set", "partition.data=4", "--set",
                   "exchange.store=sharded_weights", "--set", "train.accumulate=2"});
  expect_success(result);
  // The sums over passes are whole.
  expect_in(result.out, {"weights", "this rank's 25 % of ", "of one of 2 micro-batches",
                         "= allgather(", "= section(", "= add(", "earlier grad fc1.weight"});
  const Result one = sandbox.run({"show", "mlp"});
  expect_success(one);
  EXPECT_FALSE(contains(one.out, "this rank's")) << one.out;
}

TEST(Show, RanksExchangeGradients) {
  Sandbox sandbox;
  const Result result = sandbox.run({"show", "mlp", "--graph", "--set", "model.hidden=[16]",
                                     "--set", "partition.data=2", "--set", "machine.threads=1"});
  expect_success(result);
  expect_in(result.out, {"each of 2 ranks × 1 thread", "allreduce", "f32[16×784]"});
}

TEST(Show, G18WhichGradientsTravelAsFactors) {
  Sandbox sandbox;
  const std::vector<std::string> words = {
      "show", "mlp", "--set", "model.hidden=[256]", "--set", "partition.data=4", "--batch", "16"};
  // 4 rows of 784 + 256 to each of 3 ranks; or 3 parts of 784 · 256 / 4.
  const Result some = sandbox.run(words);
  expect_success(some);
  expect_in(some.out, {"Gradients that travel as factors (exchange.payload)",
                       "fc1.weight  12,480 elements sent instead of 150,528"});
  std::vector<std::string> never = words;
  never.insert(never.end(), {"--set", "exchange.payload=gradient"});
  EXPECT_FALSE(contains(sandbox.run(never).out, "as factors"));
}

TEST(Show, AModelOnTheImagesItWasMadeFor) {
  Sandbox sandbox;
  expect_in(sandbox.run({"show", "squeezenet"}).out, {"1×96×109×109", "1,248,424", "818,924,576"});
  expect_in(sandbox.run({"show", "resnet20", "--batch", "2"}).out, {"2×16×32×32", "269,722"});
  expect_in(sandbox.run({"show", "resnet20", "--batch", "2", "--set", "data.shape=[3,8,8]"}).out,
            {"2×16×8×8"});
  expect_in(sandbox.run({"show", "resnet20", "--batch", "2", "--set", "data.name=digits"}).out,
            {"2×16×28×28", "269,434"});
}

// K11: every number of the survey beside ours. K12: W/D of each.
TEST(Show, K11Survey) {
  Sandbox sandbox;
  const Result result = sandbox.run({"show", "--survey"});
  expect_success(result);
  expect_in(result.out, {"survey",        "counted",        "W/D",
                         "60K",           "60,000",         "61M",
                         "60,965,224",    "725M",           "724,406,816",
                         "6.8M",          "6,998,552",      "1,566M",
                         "1,582,671,872", "1.7M",           "1,727,962",
                         "252,887,680",   "25,557,032",     "about 1,000M",
                         "3,857,973,248", "60.2M",          "60,192,808",
                         "about 2,300M",  "11,282,415,616", "15.3M",
                         "15,324,406",    "about 600M",     "2,834,161,664",
                         "about 1,130M",  "5,751,653,376"});
}

TEST(Show, ANetworkThatDoesNotFitTheData) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  expect_failure(sandbox.run({"show", "layers"}), 1, {"tutti show layers", "[[model.layers]]"});
}

}  // namespace
}  // namespace tutti::cli
