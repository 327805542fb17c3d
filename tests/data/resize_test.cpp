// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/resize.h"

#include <gtest/gtest.h>

namespace tutti::data {
namespace {

using Plane = std::vector<float>;

TEST(Resize, SameExtentsAndConstantsStay) {
  const Plane plane = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(resize_bilinear(plane, 2, 3, 2, 3), plane);
  for (float value : resize_bilinear(Plane(6, 0.7f), 2, 3, 9, 5)) EXPECT_FLOAT_EQ(value, 0.7f);
}

TEST(Resize, DoublingHasTheKnownWeights) {
  // Centres of the new pixels lie at −¼, ¼, ¾, 1¼ of the old ones; outside, the border is repeated.
  EXPECT_EQ(resize_bilinear(Plane{0, 4}, 1, 2, 1, 4), (Plane{0, 1, 3, 4}));
  EXPECT_EQ(resize_bilinear(Plane{0, 4}, 2, 1, 4, 1), (Plane{0, 1, 3, 4}));
}

TEST(Resize, LinearRampsStayLinearInside) {
  Plane ramp;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) ramp.push_back(static_cast<float>(10 * y + x));
  const Plane resized = resize_bilinear(ramp, 8, 8, 20, 20);
  for (int y = 2; y < 18; ++y)
    for (int x = 2; x < 18; ++x)
      EXPECT_NEAR(resized[y * 20 + x], 10 * (0.4 * y - 0.3) + 0.4 * x - 0.3, 1e-4);
}

// Halving, the triangle spans four pixels with weights 1, 3, 3, 1 over 8; at the border its outside
// goes to the last pixel.
TEST(Resize, ShrinkingCountsEveryPixel) {
  EXPECT_EQ(resize_bilinear(Plane{8, 0, 0, 0}, 1, 4, 1, 2), (Plane{4, 0}));
  EXPECT_EQ(resize_bilinear(Plane{0, 8, 0, 0}, 1, 4, 1, 2), (Plane{3, 1}));
  for (float value : resize_bilinear(Plane(70, 0.7f), 7, 10, 3, 4)) EXPECT_FLOAT_EQ(value, 0.7f);
}

}  // namespace
}  // namespace tutti::data
