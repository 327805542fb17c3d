// SPDX-License-Identifier: Apache-2.0
#include "nn/apply_layer.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using contract::Array;
using test::applied;
using test::Applied;

TEST(NormLayers, ShapesAndParameters) {
  const struct {
    const char* layer;
    Settings settings;
    Shape in;
    std::int64_t parameters;
  } cases[] = {{"layer_norm", {}, {2, 3, 4}, 24},
               {"layer_norm", {{"axis", -1}}, {2, 3, 4}, 8},
               {"layer_norm", {{"axis", -1}, {"bias", false}}, {2, 3, 4}, 4},
               {"rms_norm", {{"axis", -1}}, {2, 3, 4}, 4},
               {"group_norm", {{"groups", 3}}, {2, 6, 4, 4}, 12}};
  for (const auto& [layer, settings, in, parameters] : cases) {
    const Applied a = applied(layer, settings, in);
    EXPECT_EQ(a.shape(), in) << layer;
    EXPECT_EQ(a.net.table.parameters(true), parameters) << layer;
    for (const Range& range : a.net.table.ranges) EXPECT_EQ(range.weight_decay, 0) << range.name;
  }
}

// One group per channel: each channel has mean 0 and variance 1 at first.
TEST(NormLayers, AGroupPerChannelIsInstanceNormalisation) {
  const Applied a = applied("group_norm", {{"groups", 3}, {"epsilon", 0.0}}, {2, 3, 4, 4});
  const Array y = a.output(contract::random_array({DType::f64, {2, 3, 4, 4}}, 5),
                           test::first_parameters(a.net));
  for (std::int64_t plane = 0; plane < 6; ++plane) {
    double mean = 0, square = 0;
    for (std::int64_t i = 0; i < 16; ++i) {
      mean += y.get(16 * plane + i) / 16;
      square += y.get(16 * plane + i) * y.get(16 * plane + i) / 16;
    }
    EXPECT_NEAR(mean, 0, 1e-14);
    EXPECT_NEAR(square, 1, 1e-14);
  }
}

TEST(NormLayers, Refusals) {
  EXPECT_EQ(test::layer_error("group_norm", {{"groups", 4}}, {2, 6, 4, 4}),
            "here: [sample_norm] dimension 1 of 2×6×4×4 can't be divided into 4 groups");
  EXPECT_EQ(test::layer_error("layer_norm", {{"axis", 0}}, {2, 6}),
            "here: 'axis' is 0, the batch of an input 2×6: expected a later dimension");
}

}  // namespace
}  // namespace tutti
