// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tutti {
namespace {

std::uint16_t rounded(float value) { return Bf16(value).bits; }

TEST(Bf16, EveryCodeComesBackFromItsFloat) {
  for (std::uint32_t code = 0; code < 1u << 16; ++code) {
    Bf16 value;
    value.bits = static_cast<std::uint16_t>(code);
    if (std::isnan(float{value}))
      EXPECT_TRUE(std::isnan(float{Bf16(float{value})})) << code;
    else
      EXPECT_EQ(rounded(value), code);
  }
}

TEST(Bf16, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(float{Bf16(1.0f + 1.0f / 256)}, 1.0f);              // between 1 and 1 + 1/128
  EXPECT_EQ(float{Bf16(1.0f + 3.0f / 256)}, 1.0f + 1.0f / 64);  // to the even one above
  EXPECT_EQ(float{Bf16(std::nextafter(1.0f + 1.0f / 256, 2.0f))}, 1.0f + 1.0f / 128);
  EXPECT_EQ(float{Bf16(-257.0f)}, -256.0f);
  EXPECT_EQ(float{Bf16(std::numeric_limits<float>::max())}, INFINITY);
}

TEST(Bf16, KeepsWhatIsNotANumber) {
  // All its bits are in the half that goes.
  const float low = std::bit_cast<float>(0x7f800001u), negative = std::bit_cast<float>(0xffffffffu);
  for (const float value : {low, negative}) EXPECT_TRUE(std::isnan(float{Bf16(value)}));
  EXPECT_EQ(float{Bf16(-INFINITY)}, -INFINITY);
}

TEST(Bf16, SumsAreThoseOfFloatsRoundedOnce) {
  Bf16 sum(256.0f);
  sum += Bf16(1.0f);  // 257 lies between 256 and 258
  EXPECT_EQ(float{sum}, 256.0f);
  EXPECT_EQ(float{Bf16(100.0f) + Bf16(28.0f)}, 128.0f);
}

}  // namespace
}  // namespace tutti
