// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/tags.h"

#include "expect_error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tutti {
namespace {

TEST(Tags, AreTheSameWhateverWasAskedBefore) {
  Tags one, other;
  other.of({.what = "something else"});
  for (int k = 0; k < 100; ++k) {
    const MessageName name{"data", fmt::format("allreduce_block of layer{}", k), k % 3};
    EXPECT_EQ(one.of(name), other.of(name));
    EXPECT_EQ(one.of(name), one.of(name));
    EXPECT_GE(one.of(name), 0);
    EXPECT_LT(one.of(name), Tags::end);
  }
}

TEST(Tags, GroupNameAndMicroBatchTellMessagesApart) {
  Tags tags;
  std::set<int> all;
  for (const char* group : {"", "data", "stage", "data stage"})
    for (const char* what : {"x", "y", "data"})
      for (int k = 0; k < 4; ++k) all.insert(tags.of({group, what, k}));
  EXPECT_EQ(all.size(), 4u * 3 * 4);
}

// Looks for two names with one number, of which there must be some among so many.
TEST(Tags, OneNumberForTwoNamesIsAnError) {
  std::map<int, std::string> seen;
  for (int k = 0;; ++k) {
    ASSERT_LT(k, 1000000);
    const std::string name = fmt::format("message {}", k);
    const int tag = Tags().of({.what = name});
    const auto [found, is_new] = seen.emplace(tag, name);
    if (is_new) continue;
    Tags tags;
    tags.of({.what = found->second});
    expect_error([&] { tags.of({.what = name}); },
                 {found->second.c_str(), name.c_str(), "same number"});
    return;
  }
}

}  // namespace
}  // namespace tutti
