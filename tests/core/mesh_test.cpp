// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/mesh.h"

#include "expect_error.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti {
namespace {

TEST(Mesh, OfNothingIsOneRank) {
  const Mesh mesh;
  EXPECT_EQ(mesh.ranks(), 1);
  EXPECT_EQ(mesh.size("data"), 1);
  EXPECT_EQ(mesh.coordinate(0, "data"), 0);
  EXPECT_EQ(mesh.members(0, {"data"}), std::vector<int>{0});
}

TEST(Mesh, RanksFollowEachOtherAlongTheLastAxis) {
  const Mesh mesh({{"stage", 2}, {"channel", 3}, {"data", 4}});
  EXPECT_EQ(mesh.ranks(), 24);
  EXPECT_EQ(mesh.coordinate(17, "data"), 1);
  EXPECT_EQ(mesh.coordinate(17, "channel"), 1);
  EXPECT_EQ(mesh.coordinate(17, "stage"), 1);
  EXPECT_EQ(mesh.members(17, {"data"}), (std::vector<int>{16, 17, 18, 19}));
  EXPECT_EQ(mesh.members(17, {"channel"}), (std::vector<int>{13, 17, 21}));
  EXPECT_EQ(mesh.members(17, {"stage", "channel"}), (std::vector<int>{1, 5, 9, 13, 17, 21}));
  EXPECT_EQ(mesh.members(17, {}), std::vector<int>{17});
}

// Whoever asks, the members of a group are the same in the same order.
TEST(Mesh, MembersAgreeOnTheirGroup) {
  const Mesh mesh({{"stage", 2}, {"channel", 3}, {"data", 2}});
  for (const std::vector<std::string>& axes :
       {std::vector<std::string>{"data"}, {"channel"}, {"stage", "data"}, {"data", "stage"}})
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
      const std::vector<int> members = mesh.members(rank, axes);
      EXPECT_EQ(static_cast<int>(members.size()), mesh.size(axes));
      EXPECT_EQ(std::count(members.begin(), members.end(), rank), 1);
      for (const int member : members) EXPECT_EQ(mesh.members(member, axes), members);
    }
}

TEST(Mesh, AnAxisHasRanks) {
  expect_error([] { Mesh({{"data", 0}}); }, {"'data'", "0 ranks", "at least 1"});
}

TEST(Mesh, AxesAreWordsOfAText) {
  EXPECT_EQ(axes_in("data replica"), (std::vector<std::string>{"data", "replica"}));
  EXPECT_TRUE(axes_in("").empty());
}

}  // namespace
}  // namespace tutti
