// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

#include <stdlib.h>

namespace tutti::cli {
namespace {

// B15: measured once, kept in the cache folder, listed, and used by training.
TEST(Tune, MeasuresOnceAndKeepsWhatItFound) {
  Sandbox sandbox;
  ::setenv("XDG_CACHE_HOME", sandbox.file("cache").c_str(), 1);
  const Words words = {"tune", "lenet", "--set", "train.batch=4", "--set", "machine.threads=1"};
  const Result first = sandbox.run(words), second = sandbox.run(words);
  expect_success(first);
  expect_in(first.out, {"conv1", "convolution_grad_weight", " ms", "5 of 5 measured with 1 thread",
                        "tutti/variants.jsonl"});
  expect_success(second);
  expect_in(second.out, {"0 of 5 measured"});
  const Result listed = sandbox.run({"list", "variants"});
  expect_success(listed);
  expect_in(listed.out, {"onednn-winograd", "fft", "Fastest where measured", "threads=1"});
  expect_success(sandbox.run({"train", "--set", "train.batch=4", "--set", "train.steps=2", "--set",
                              "machine.threads=1", "--set", "train.checkpoint=none", "--set",
                              "train.evaluate_every=0"}));
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(Tune, ANetworkWithoutConvolutions) {
  Sandbox sandbox;
  const Result result = sandbox.run({"tune", "mlp"});
  expect_success(result);
  expect_in(result.out, {"nothing to tune"});
}

TEST(Tune, VariantsByNameAndUnderALimit) {
  Sandbox sandbox;
  const Words base = {
      "show", "lenet", "--graph", "--set", "train.batch=4", "--set", "kernels.select=rule"};
  const auto show = [&](const std::string& change) {
    Words words = base;
    words.insert(words.end(), {"--set", change});
    const Result result = sandbox.run(words);
    expect_success(result);
    return result.out;
  };
  expect_in(show("kernels.convolution=fft"), {"[fft]"});
  expect_in(show("kernels.convolution=im2col"), {"[im2col]"});
  EXPECT_FALSE(contains(show("kernels.workspace=0"), "[onednn-winograd]"));
  expect_failure(sandbox.run({"show", "lenet", "--set", "kernels.convolution=ftt"}), 2,
                 {"kernels.convolution=ftt", "did you mean 'fft'?"});
}

}  // namespace
}  // namespace tutti::cli
