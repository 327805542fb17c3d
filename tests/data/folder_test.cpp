// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/folder.h"

#include "data/scratch.h"

namespace tutti::data {
namespace {

TEST(Folder, FollowsTheEnvironment) {
  const Environment home("HOME", "/home/ada"), no_xdg("XDG_DATA_HOME", nullptr),
      no_own("TUTTI_DATA", nullptr);
  EXPECT_EQ(data_folder(), "/home/ada/.local/share/tutti");
  const Environment xdg("XDG_DATA_HOME", "/xdg");
  EXPECT_EQ(data_folder(), "/xdg/tutti");
  const Environment own("TUTTI_DATA", "/own");
  EXPECT_EQ(data_folder(), "/own");
  EXPECT_EQ(mnist_folder(), "/own/mnist");
}

TEST(Folder, NeedsOneOfThem) {
  const Environment home("HOME", nullptr), xdg("XDG_DATA_HOME", nullptr), own("TUTTI_DATA", "");
  expect_error([] { data_folder(); }, {"set TUTTI_DATA"});
}

}  // namespace
}  // namespace tutti::data
