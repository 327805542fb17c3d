// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/list.h"

#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

struct Fruit {
  std::string name;
  int grams = 0;
};

List<Fruit> fruits() { return {"fruit", {{"apple", 150}, {"pear", 170}}}; }

TEST(List, FindsByName) {
  const List<Fruit> list = fruits();
  EXPECT_EQ(list.find("pear").grams, 170);
  EXPECT_EQ(&list.find("apple"), &*list.begin());
  EXPECT_TRUE(list.has("apple"));
  EXPECT_FALSE(list.has("plum"));
  EXPECT_EQ(list.names(), (std::vector<std::string>{"apple", "pear"}));
}

TEST(List, OfATemporaryGivesACopy) {
  static_assert(!std::is_reference_v<decltype(fruits().find("pear"))>);
  const Fruit& pear = fruits().find("pear");
  EXPECT_EQ(pear.grams, 170);
}

TEST(List, UnknownNameSuggests) {
  expect_error([] { fruits().find("aple"); }, {"unknown fruit 'aple'", "did you mean 'apple'?"});
  expect_error([] { fruits().find("pomegranate"); }, {"expected one of: apple, pear"});
}

TEST(List, TakesOneMoreButNotTwice) {
  List<Fruit> list = fruits();
  list.add({"plum", 60});
  EXPECT_EQ(list.find("plum").grams, 60);
  expect_error([&] { list.add({"plum", 61}); }, {"there is a fruit 'plum' already"});
}

}  // namespace
}  // namespace tutti
