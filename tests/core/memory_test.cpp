// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/memory.h"

#include "tutti/core/shape.h"
#include "tutti/core/tensor.h"

#include "expect_error.h"

#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <system_error>

namespace tutti {
namespace {

TEST(Memory, ABoundIsKnownAndKept) {
  const MemoryBound bound = memory_bound();
  EXPECT_GT(bound.bytes, std::int64_t{1} << 26);
  require_memory(bound.bytes, "all of it");
  expect_error([&] { require_memory(bound.bytes + 1, "the moon"); },
               {"not enough memory", "the moon would take", bound.text.c_str(), "train.batch"});
}

TEST(Memory, ABufferThatCanNotBeSaysHowMuchItWas) {
  expect_error([] { const Buffer buffer(std::int64_t{1} << 60); },
               {"not enough memory", "1048576.00 TiB"});
}

TEST(Memory, LargeBuffersAreZero) {
  for (const std::int64_t bytes : {1, 100, 100000, 5000000}) {
    const Buffer buffer(bytes);
    std::int64_t used = 0;
    for (std::int64_t i = 0; i < bytes; ++i) used += buffer.data()[i] != std::byte{0} ? 1 : 0;
    EXPECT_EQ(used, 0) << bytes;
    buffer.data()[bytes - 1] = std::byte{1};
  }
}

TEST(Memory, WhatLibrariesThrowIsExplained) {
  EXPECT_NE(failure_text(std::bad_alloc()).find("not enough memory"), std::string::npos);
  const std::system_error no_thread(
      std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_NE(failure_text(no_thread).find("machine.threads"), std::string::npos);
  EXPECT_EQ(failure_text(std::runtime_error("as it is")), "as it is");
}

TEST(Shape, SizesAreCountedWithoutOverflow) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(is_countable({}));
  EXPECT_TRUE(is_countable({most_elements}));
  EXPECT_TRUE(is_countable({1 << 21, 1 << 21}));
  EXPECT_FALSE(is_countable({most_elements + 1}));
  EXPECT_FALSE(is_countable({largest, largest}));
  EXPECT_FALSE(is_countable({std::int64_t{1} << 32, std::int64_t{1} << 32}));  // 0 when it wraps
}

}  // namespace
}  // namespace tutti
