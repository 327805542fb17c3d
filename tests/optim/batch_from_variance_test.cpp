// SPDX-License-Identifier: Apache-2.0
#include "tutti/optim/batch_from_variance.h"

#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

Settings variance_settings(double bound, std::int64_t most) {
  Settings settings;
  settings.set("batch_from_variance", bound);
  settings.set("grow_batch_to", most);
  return settings;
}

// What a step would see on average: four parts of a batch, samples of variance σ² around a
// gradient.
GradientSquares seen(double gradient_square, double sample_variance, std::int64_t samples) {
  const double count = static_cast<double>(samples);
  return {.parts = gradient_square + sample_variance / (count / 4),
          .inverse_counts = 4 / count,
          .whole = gradient_square + sample_variance / count,
          .samples = samples};
}

TEST(BatchFromVariance, FindsVarianceAndGradientI12) {
  BatchFromVariance choice(variance_settings(1, 1 << 20), 8);
  for (int step = 0; step < 20; ++step) choice.after_step(seen(3, 12, choice.batch()));
  EXPECT_NEAR(choice.sample_variance(), 12, 1e-12);
  EXPECT_NEAR(choice.gradient_square(), 3, 1e-12);
}

// Twice σ²/(θ²‖g‖²), rounded up to a doubling of the first batch.
TEST(BatchFromVariance, GrowsAsTheGradientShrinksI12) {
  BatchFromVariance choice(variance_settings(0.5, 1 << 20), 8);
  for (const auto& [square, batch] : {std::pair(16.0, 8), {4.0, 32}, {1.0, 128}, {0.25, 512}}) {
    for (int step = 0; step < 100; ++step) choice.after_step(seen(square, 14, choice.batch()));
    EXPECT_EQ(choice.batch(), batch) << "gradient " << square;
    EXPECT_LE(14.0 / batch, 0.25 * square);
  }
  for (int step = 0; step < 100; ++step) choice.after_step(seen(16, 14, choice.batch()));
  EXPECT_EQ(choice.batch(), 512) << "it never shrinks";
}

TEST(BatchFromVariance, KeepsToItsBoundsI12) {
  BatchFromVariance choice(variance_settings(0.1, 100), 8);
  EXPECT_EQ(choice.after_step(seen(1e-6, 10, 8)), 16) << "at most twofold";
  for (int step = 0; step < 10; ++step) choice.after_step(seen(1e-6, 10, choice.batch()));
  EXPECT_EQ(choice.batch(), 96) << "a multiple of the first";
  BatchFromVariance noisy(variance_settings(1, 64), 8);
  // The estimate of ‖∇f‖² is negative.
  EXPECT_EQ(noisy.after_step({.parts = 4, .inverse_counts = 0.5, .whole = 0.1, .samples = 8}), 16);
  BatchFromVariance quiet(variance_settings(1, 64), 8);
  EXPECT_EQ(quiet.after_step(seen(1, 0, 8)), 8) << "equal samples";
}

TEST(BatchFromVariance, GoesOnFromItsNoteI12) {
  const auto step = [](BatchFromVariance& choice, int k) {
    choice.after_step(seen(1.0 / (1 + k), 7.7 / (3 + k % 5), choice.batch()));
  };
  BatchFromVariance whole(variance_settings(1, 4096), 8), first(variance_settings(1, 4096), 8);
  for (int k = 0; k < 40; ++k) step(whole, k);
  for (int k = 0; k < 17; ++k) step(first, k);
  BatchFromVariance second(variance_settings(1, 4096), 8);
  second.restore(first.note());
  for (int k = 17; k < 40; ++k) step(second, k);
  EXPECT_EQ(second.note(), whole.note());
  expect_error([&] { second.restore("8 x"); }, {"'8 x' is no note"});
}

}  // namespace
}  // namespace tutti
