// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/settings.h"

#include "expect_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tutti {
namespace {

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

const std::vector<Setting> declared = {
    {"batch", std::int64_t{32}, "samples per step", 1, 4096},
    {"rate", 0.1, "learning rate", 0},
    {"shuffle", true, "another order every epoch"},
    {.name = "order",
     .initial = std::string("any"),
     .doc = "of additions",
     .choices = {"any", "fixed"}},
    {"sizes", Integers{1}, "of layers", 1},
    {"weights", Reals{}, "of classes", 0, 1},
};

Settings resolved(const Settings& given) { return resolve(declared, given, "here"); }

TEST(Settings, FillsDefaults) {
  const Settings all = resolved({{"batch", std::int64_t{8}}});
  EXPECT_EQ(all.integer("batch"), 8);
  EXPECT_EQ(all.real("rate"), 0.1);
  EXPECT_TRUE(all.flag("shuffle"));
  EXPECT_EQ(all.text("order"), "any");
  EXPECT_EQ(all.integers("sizes"), Integers{1});
  EXPECT_EQ(all.reals("weights"), Reals{});
  EXPECT_EQ(all.values().size(), declared.size());
}

TEST(Settings, ConvertsWhereNothingIsLost) {
  const Settings all = resolved(
      {{"rate", std::int64_t{2}}, {"sizes", std::int64_t{3}}, {"weights", Integers{0, 1}}});
  EXPECT_EQ(all.real("rate"), 2.0);
  EXPECT_EQ(all.integers("sizes"), Integers{3});
  EXPECT_EQ(all.reals("weights"), (Reals{0, 1}));
}

TEST(Settings, OneNumberIsAListOrAWord) {
  const Setting list{.name = "mean", .initial = std::vector<double>{}, .doc = ""};
  const Setting word{.name = "target", .initial = std::string(), .doc = ""};
  EXPECT_EQ(std::get<std::vector<double>>(conform(list, 0.5, "here")), std::vector<double>{0.5});
  EXPECT_EQ(std::get<std::vector<double>>(conform(list, std::int64_t{2}, "here")),
            std::vector<double>{2});
  EXPECT_EQ(std::get<std::string>(conform(word, std::int64_t{-1}, "here")), "-1");
  EXPECT_EQ(std::get<std::string>(conform(word, 0.5, "here")), "0.5");
}

TEST(Settings, UnknownKeyNamesTheNearest) {
  expect_error(
      [] {
        resolved({{"btach", std::int64_t{8}}});
      },
      {"here: unknown key 'btach'", "did you mean 'batch'?"});
}

TEST(Settings, WrongTypeSaysWhatWasExpected) {
  expect_error([] { resolved({{"batch", 8.5}}); }, {"here: 'batch'", "8.5", "an integer"});
  expect_error([] { resolved({{"batch", std::string("x")}}); }, {"a string (\"x\")"});
  expect_error([] { resolved({{"shuffle", std::int64_t{1}}}); }, {"expected true or false"});
  expect_error([] { resolved({{"sizes", Reals{1.5}}}); }, {"expected a list of integers"});
  expect_error([] { resolved({{"weights", std::string("x")}}); }, {"expected a list of numbers"});
}

TEST(Settings, OutOfRangeSaysTheRange) {
  expect_error(
      [] {
        resolved({{"batch", std::int64_t{0}}});
      },
      {"here: 'batch' is 0, expected 1 to 4096"});
  expect_error([] { resolved({{"rate", -1.0}}); }, {"'rate' is -1, expected at least 0"});
  expect_error([] { resolved({{"sizes", Integers{4, 0}}}); }, {"'sizes' is 0"});
  expect_error([] { resolved({{"weights", Reals{0.5, 2}}}); }, {"'weights' is 2"});
}

TEST(Settings, NotANumberIsRefusedEverywhere) {
  expect_error([] { resolved({{"rate", std::nan("")}}); }, {"'rate' is nan"});
  expect_error(
      [] {
        resolve({{"any", 0.0, ""}}, {{"any", std::nan("")}}, "here");
      },
      {"'any' is nan, expected a finite number"});
  expect_error(
      [] {
        resolved({{"rate", std::numeric_limits<double>::infinity()}});
      },
      {"'rate' is inf, expected a finite number"});
}

TEST(Settings, ChoicesAreChecked) {
  expect_error(
      [] {
        resolved({{"order", std::string("fxed")}});
      },
      {"'order' is \"fxed\"", "did you mean 'fixed'?"});
}

TEST(Settings, RequiredMustBeGiven) {
  Setting name{"name", std::string(), "of the model"};
  name.required = true;
  expect_error([&] { resolve({name}, {}, "here"); },
               {"here: 'name' is missing, expected a string: of the model"});
  EXPECT_EQ(resolve({name}, {{"name", std::string("mlp")}}, "here").text("name"), "mlp");
}

TEST(Settings, LookingUpWhatIsNotThereIsABug) {
  EXPECT_THROW(Settings().integer("x"), std::logic_error);
  EXPECT_THROW((Settings{{"x", 1.0}}).integer("x"), std::logic_error);
}

TEST(Settings, PrintsAndDescribes) {
  EXPECT_EQ(to_string(SettingValue(true)), "true");
  EXPECT_EQ(to_string(SettingValue(std::string("a"))), "\"a\"");
  EXPECT_EQ(to_string(SettingValue(Integers{1, 2})), "[1, 2]");
  EXPECT_EQ(describe(declared[0]), "batch = 32   samples per step, 1 to 4096");
  const Setting open{
      .name = "steps", .initial = std::int64_t{1}, .doc = "updates", .min = 0, .max = 1e15};
  EXPECT_EQ(describe(open), "steps = 1   updates, at least 0") << "1e15 is no limit to print";
  EXPECT_EQ(describe(declared[3]), "order = \"any\"   of additions: any, fixed");
}

TEST(Settings, CompareByValue) {
  EXPECT_EQ(resolved({}), resolved({{"batch", std::int64_t{32}}}));
  EXPECT_NE(resolved({}), resolved({{"batch", std::int64_t{33}}}));
}

}  // namespace
}  // namespace tutti
