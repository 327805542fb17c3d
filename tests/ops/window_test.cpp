// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/window.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Window, OutputExtentCountsTheWindowsThatFit) {
  for (std::int64_t extent = 1; extent < 8; ++extent)
    for (std::int64_t kernel = 1; kernel < 4; ++kernel)
      for (std::int64_t stride = 1; stride < 4; ++stride)
        for (std::int64_t padding = 0; padding < 3; ++padding)
          for (std::int64_t dilation = 1; dilation < 3; ++dilation) {
            const Window window{kernel, stride, padding, dilation};
            std::int64_t fitting = 0;
            for (std::int64_t start = -padding; start + dilation * (kernel - 1) < extent + padding;
                 start += stride)
              ++fitting;
            EXPECT_EQ(window.output_extent(extent), fitting);
          }
}

TEST(Window, TapsLeaveThePaddingOut) {
  const std::vector<Window> windows{{.kernel = 2, .stride = 2, .padding = 1}};
  const std::vector<Tap> all = taps(windows, {3});  // windows at -1 and 1
  ASSERT_EQ(all.size(), 3u);
  const std::int64_t expected[][3] = {{0, 1, 0}, {1, 0, 1}, {1, 1, 2}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].out, expected[i][0]);
    EXPECT_EQ(all[i].kernel, expected[i][1]);
    EXPECT_EQ(all[i].in, expected[i][2]);
  }
}

// As many windows as begin before the far edge, and one at least.
TEST(Window, CeilLetsTheLastWindowHangOver) {
  for (std::int64_t extent = 3; extent < 12; ++extent)
    for (std::int64_t stride = 1; stride < 4; ++stride)
      for (std::int64_t padding = 0; padding < 3; ++padding) {
        Settings settings{{"kernel", Shape{3}}, {"stride", stride}, {"padding", padding}};
        settings.set("ceil", true);
        settings = resolve(pool_settings(), settings, "pool");
        const Window window = pool_windows("pool", settings, {extent})[0];
        std::int64_t covered = -padding + 3, count = 1;  // behind the last window
        for (; covered < extent + padding && covered - 3 + stride < extent; covered += stride)
          ++count;
        EXPECT_EQ(window.output_extent(extent), count) << extent << stride << padding;
      }
}

TEST(Window, IndicesAreUnique) {
  EXPECT_EQ(window_indices(1), "w+l");
  EXPECT_EQ(window_indices(2), "h+k,w+l");
  EXPECT_EQ(window_indices(3), "d+j,h+k,w+l");
  EXPECT_EQ(output_indices(3), "d,h,w");
  EXPECT_EQ(kernel_indices(3), "j,k,l");
  EXPECT_EQ(fixed_indices(2), "*,*");
}

}  // namespace
}  // namespace tutti::ops
