// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/minibatch.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Minibatch, K10StepsToTheTarget) {
  const int expected[][2] = {{1, 16167}, {16, 1022}, {64, 265},   {256, 76},
                             {1024, 29}, {4096, 17}, {16384, 15}, {65536, 14}};
  for (const auto& [batch, steps] : expected) EXPECT_EQ(minibatch_steps(batch), steps) << batch;
}

// Region A costs no samples, region C wastes them.
TEST(Minibatch, K10SamplesAreWastedBeyondTheKnee) {
  const auto samples = [](int batch) { return batch * minibatch_steps(batch); };
  EXPECT_LT(samples(64), 1.06 * samples(1));
  EXPECT_GT(samples(16384), 8 * samples(1024));
}

}  // namespace
}  // namespace tutti
