// SPDX-License-Identifier: Apache-2.0
// What 16 bits cost in accuracy (G01): the 64–32–10 network on handwritten digits.
#include "tutti/recipe/make_job.h"
#include "tutti/train/train.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

double digits_accuracy(const std::string& precision) {
  Recipe recipe = parse_recipe(R"([model]
name = "mlp"
hidden = [32]
activation = "tanh"
[data]
name = "digits"
[train]
epochs = 12
batch = 32
seed = 1
evaluate_every = 12
checkpoint = "none"
record = "none"
[optimizer]
rule = "momentum"
rate = 0.05
schedule = "cosine"
[machine]
threads = 1
)",
                               "digits.toml");
  set(recipe, "kernels.precision=" + precision);
  const TrainSummary summary = train(make_job(recipe, default_lists()), {});
  EXPECT_TRUE(summary.evaluated);
  return summary.test_accuracy;
}

TEST(HalfPrecision, AccuracyIsWithinAPointG01) {
  const double floats = digits_accuracy("f32");
  EXPECT_GT(floats, 0.9);
  EXPECT_NEAR(digits_accuracy("fp16"), floats, 0.01);
  if (!__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "this processor has no bf16";
  EXPECT_NEAR(digits_accuracy("bf16"), floats, 0.01);
}

}  // namespace
}  // namespace tutti
