// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/nearest.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Nearest, EditDistance) {
  EXPECT_EQ(edit_distance("mpl", "mlp"), 1);
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("rate", "rate"), 0);
  EXPECT_EQ(edit_distance("rate", "rte"), 1);
}

TEST(Nearest, SuggestsWhatIsClose) {
  EXPECT_EQ(suggestion("mpl", {"lenet", "mlp"}), "; did you mean 'mlp'?");
  EXPECT_EQ(suggestion("momentm", {"sgd", "momentum"}), "; did you mean 'momentum'?");
  EXPECT_EQ(suggestion("btach", {"batch", "rate"}), "; did you mean 'batch'?");  // two swapped
  EXPECT_EQ(suggestion("x", {"y", "z"}), "; did you mean 'y'?");  // the first of equals
}

TEST(Nearest, ListsAllOtherwise) {
  EXPECT_EQ(suggestion("transformer", {"mlp", "lenet"}), "; expected one of: mlp, lenet");
  EXPECT_EQ(suggestion("anything", {}), "");
}

}  // namespace
}  // namespace tutti
