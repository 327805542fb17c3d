// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/csv.h"

#include "data/scratch.h"

#include <cmath>
#include <numeric>

namespace tutti::data {
namespace {

using Reals = std::vector<double>;

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

class CsvTest : public testing::Test {
 protected:
  std::string write(const std::string& text, const std::string& name = "t.csv") const {
    return scratch.write(name, bytes_of(text));
  }
  std::unique_ptr<Dataset> open(Settings given, Split split = Split::train) const {
    if (!given.has("mean")) given.set("mean", 0.0), given.set("std", 1.0);
    if (!given.has("file")) given.set("file", scratch.folder().string() + "/t.csv");
    if (!given.has("test_file")) given.set("test_file", given.text("file"));
    return csv().open(resolve(csv().settings, given, "test"), split);
  }
  static Reals inputs_of(const Dataset& data) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(data.count));
    std::iota(all.begin(), all.end(), 0);
    Reals x(all.size() * static_cast<std::size_t>(elements(data.sample_shape)));
    data.read(all, {.dtype = DType::f64, .x = x.data()});
    return x;
  }
  static Reals targets_of(const Dataset& data) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(data.count));
    std::iota(all.begin(), all.end(), 0);
    Reals y(all.size() * static_cast<std::size_t>(elements(data.target_shape)));
    data.read(all, {.dtype = DType::f64, .targets = y.data()});
    return y;
  }

  const Scratch scratch;
};

TEST_F(CsvTest, HeaderQuotesBlanksAndLineEnds) {
  const CsvTable table =
      read_csv(write("\xef\xbb\xbf\"size\" , rooms,price\r\n\r\n 1.5, +2,3e1\r\n\"-4\",5,6"));
  EXPECT_EQ(table.columns, (std::vector<std::string>{"size", "rooms", "price"}));
  EXPECT_EQ(table.values, (Reals{1.5, 2, 30, -4, 5, 6}));
  EXPECT_EQ(table.rows(), 2);
  EXPECT_EQ(read_csv(write("1;2\n3;4\n"), ';').columns, (std::vector<std::string>{"0", "1"}));
}

TEST_F(CsvTest, TargetsByNameOrNumber) {
  write("a,b,c,d\n1,2,3,4\n5,6,7,8\n");
  const auto last = open({});
  EXPECT_EQ(last->classes, 0);
  EXPECT_EQ(last->target_shape, (Shape{1}));
  EXPECT_EQ(inputs_of(*last), (Reals{1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(targets_of(*last), (Reals{4, 8}));
  const auto named = open({{"target", std::string("c, a")}, {"ignore", std::string("-1")}});
  EXPECT_EQ(named->target_shape, (Shape{2}));
  EXPECT_EQ(inputs_of(*named), (Reals{2, 6}));
  EXPECT_EQ(targets_of(*named), (Reals{3, 1, 7, 5}));
  EXPECT_EQ(targets_of(*open({{"target", std::int64_t{1}}})), (Reals{2, 6})) << "a bare number";
}

TEST_F(CsvTest, Classes) {
  write("x,label\n1,0\n2,2\n3,1\n");
  const auto data = open({{"classes", std::int64_t{3}}});
  EXPECT_EQ(data->classes, 3);
  const std::int64_t indices[] = {1, 2};
  std::int32_t labels[2];
  data->read(indices, {.labels = labels});
  EXPECT_EQ(labels[0], 2);
  EXPECT_EQ(labels[1], 1);
}

TEST_F(CsvTest, ColumnsAreScaledByTheTrainingPart) {
  write("1,10,0\n3,10,0\n");
  write("5,11,0\n", "test.csv");
  const Settings given = {{"mean", std::vector<double>{}},
                          {"std", std::vector<double>{}},
                          {"test_file", scratch.folder().string() + "/test.csv"}};
  EXPECT_EQ(inputs_of(*open(given)), (Reals{-1, 0, 1, 0}));
  EXPECT_EQ(inputs_of(*open(given, Split::test)), (Reals{3, 1})) << "(5 − 2) / 1, (11 − 10) / 1";
}

TEST_F(CsvTest, AFractionIsTheTestPart) {
  std::string text = "x,y\n";
  for (int i = 0; i < 50; ++i) text += fmt::format("{},{}\n", i, 2 * i);
  const std::string file = write(text);
  const Settings given =
      resolve(csv().settings, {{"file", file}, {"mean", 0.0}, {"std", 1.0}, {"test_fraction", 0.3}},
              "test");
  Reals all = inputs_of(*csv().open(given, Split::train));
  const Reals test = inputs_of(*csv().open(given, Split::test));
  EXPECT_EQ(all.size(), 35u);
  EXPECT_EQ(test.size(), 15u);
  all.insert(all.end(), test.begin(), test.end());
  std::sort(all.begin(), all.end());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(all[i], i);
}

TEST_F(CsvTest, Errors) {
  const auto expect = [&](const std::string& text, std::initializer_list<const char*> parts) {
    const std::string file = write(text);
    expect_error([&] { open({{"file", file}}); }, parts);
  };
  expect("", {"t.csv", "no rows"});
  expect("a,b\n", {"t.csv", "no rows"});
  expect("a,b\n1,2\n3\n", {"t.csv: line 3", "1 columns, expected 2"});
  expect("a,b\n1,2\n\n3,x\n", {"t.csv: line 4, column 1 (b)", "'x' is no number"});
  expect("a,b\n1,\n", {"line 2, column 1 (b)", "''"});
  expect("1,2\n3,nan\n", {"line 2, column 1 (1)", "'nan' is no number"});
  expect("a\n1\n", {"no column is left"});
  write("size,price\n1,2\n");
  expect_error(
      [&] {
        open({{"target", std::string("prize")}});
      },
      {"t.csv", "no column 'prize'", "did you mean 'price'"});
  expect_error([&] { open({{"target", std::int64_t{2}}}); }, {"no column '2'", "-2 to 1"});
  expect_error([&] { open({{"target", std::string("")}}); }, {"'target' is empty"});
  expect_error([&] { open({{"classes", std::int64_t{2}}}); }, {"row 0", "price", "2 is no label"});
  expect_error(
      [&] {
        open({{"classes", std::int64_t{3}}, {"target", std::string("0,1")}});
      },
      {"2 columns", "label is one"});
  expect_error([&] { open({{"separator", std::string("ab")}}); }, {"'separator'"});
  expect_error([&] { open({{"file", std::string("/none.csv")}}); }, {"none.csv", "No such file"});
}

}  // namespace
}  // namespace tutti::data
