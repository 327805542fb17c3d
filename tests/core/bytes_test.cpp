// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/bytes.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Bytes, AsPeopleWriteThem) {
  EXPECT_EQ(bytes_in("4096"), 4096);
  EXPECT_EQ(bytes_in("512MB"), 512'000'000);
  EXPECT_EQ(bytes_in("1.5 KiB"), 1536);
  EXPECT_EQ(bytes_in("2GiB"), std::int64_t{2} << 30);
  for (const char* wrong : {"", "MB", "-1MB", "12 apples", "1e30"})
    EXPECT_FALSE(bytes_in(wrong).has_value()) << wrong;
}

TEST(Bytes, AsTheyAreShown) {
  EXPECT_EQ(bytes_text(17), "17 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
}

}  // namespace
}  // namespace tutti
