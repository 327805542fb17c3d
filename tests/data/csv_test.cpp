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
    if (!given.has("target_mean")) given.set("target_mean", 0.0), given.set("target_std", 1.0);
    if (!given.has("file")) given.set("file", scratch.folder().string() + "/t.csv");
    if (!given.has("test_file")) given.set("test_file", given.text("file"));
    return csv().open(resolve(csv().settings, given, "test"), split);
  }
  static Reals inputs_of(const Dataset& data) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(data.count));
    std::iota(all.begin(), all.end(), 0);
    Reals x(all.size() * static_cast<std::size_t>(elements(data.sample_shape())));
    data.read(all, {.dtype = DType::f64, .fields = {x.data()}});
    return x;
  }
  static Reals targets_of(const Dataset& data) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(data.count));
    std::iota(all.begin(), all.end(), 0);
    Reals y(all.size() * static_cast<std::size_t>(elements(data.target_shape())));
    data.read(all, {.dtype = DType::f64, .fields = {nullptr, y.data()}});
    return y;
  }

  const Scratch scratch;
};

using Texts = std::vector<std::string>;

Texts fields_of(const CsvTable& table) {
  Texts fields;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    for (std::size_t i = 0; i < table.columns().size(); ++i)
      fields.emplace_back(table.field(row, i));
  return fields;
}

TEST_F(CsvTest, HeaderQuotesBlanksAndLineEnds) {
  const CsvTable table(
      write("\xef\xbb\xbf\"size\" , rooms,price\r\n\r\n 1.5, +2,3e1\r\n\"-4\",5,6"));
  EXPECT_EQ(table.columns(), (Texts{"size", "rooms", "price"}));
  EXPECT_EQ(fields_of(table), (Texts{"1.5", "+2", "3e1", "-4", "5", "6"}));
  EXPECT_EQ(number_in("+2"), 2.0);
  EXPECT_EQ(table.rows(), 2);
  EXPECT_EQ(CsvTable(write("1;2\n3;4\n"), {.separator = ';'}).columns(), (Texts{"0", "1"}));
  EXPECT_EQ(fields_of(CsvTable(write("a\t b\n1\t\n"), {.separator = '\t'})), (Texts{"1", ""}));
}

// RFC 4180, section 2, rules 5 to 7.
TEST_F(CsvTest, QuotedFields) {
  const CsvTable table(write(
      "\"name, full\",\"said\"\r\n\"Ann, B.\",\"\"\"no\"\"\"\n\"two\nlines\" ,5\" pipe\nx,y\n"));
  EXPECT_EQ(table.columns(), (Texts{"name, full", "said"}));
  EXPECT_EQ(fields_of(table), (Texts{"Ann, B.", "\"no\"", "two\nlines", "5\" pipe", "x", "y"}));
  EXPECT_EQ(table.place(2, 1), table.file() + ": line 5, column 1 (said)");
  expect_error([&] { CsvTable(write("a,b\n1,\"2\n3,4\n")); }, {"t.csv: line 2", "none closes it"});
  expect_error([&] { CsvTable(write("a,b\n1,\"2\"3\n")); }, {"t.csv: line 2", "'3' follows"});
  const Texts fields = {"a, b", "say \"x\"", "", "two\nlines"};
  EXPECT_EQ(csv_fields(csv_line(fields)), fields);
}

TEST_F(CsvTest, WhatIsAHeader) {
  const auto header = [&](const std::string& text, CsvFormat::Header asked = CsvFormat::automatic) {
    return CsvTable(write(text), {.header = asked}).has_header();
  };
  EXPECT_TRUE(header("a,b\n1,2\n"));
  EXPECT_TRUE(header("year,2019,2020\n1,2,3\n")) << "a text above a number";
  EXPECT_TRUE(header("a,b\nx,y\n")) << "no number";
  EXPECT_FALSE(header("1,2\n3,4\n"));
  EXPECT_FALSE(header("5.1,3.5,setosa\n6.0,3.0,virginica\n"));
  EXPECT_FALSE(header("1,,3\n4,5,6\n")) << "a missing value";
  EXPECT_TRUE(header("1,2\n3,4\n", CsvFormat::yes));
  EXPECT_FALSE(header("a,b\n1,2\n", CsvFormat::no));
}

TEST_F(CsvTest, OtherEncodingsAreNamed) {
  expect_error(
      [&] {
        CsvTable(
            write(std::string("\xff\xfe"
                              "a\0,\0",
                              6)));
      },
      {"t.csv", "UTF-16", "save it as UTF-8"});
  expect_error([&] { CsvTable(write(std::string("a,b\n1,2\n3,\0\n", 12))); },
               {"t.csv: line 3 holds a NUL byte", "UTF-8"});
}

// Words become classes in the order of the alphabet, and keep their names.
TEST_F(CsvTest, TextLabels) {
  write("x,y,kind\n1,2,rose\n3,4,\"lily, white\"\n5,6,rose\n");
  const auto labels_of = [](const Dataset& data) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(data.count));
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::int32_t> labels(all.size());
    data.read(all, {.fields = {nullptr, labels.data()}});
    return labels;
  };
  for (const std::int64_t classes : {0, 2}) {
    const auto data = open({{"classes", classes}});
    EXPECT_EQ(data->classes, 2);
    EXPECT_EQ(data->class_names, (Texts{"lily, white", "rose"}));
    EXPECT_EQ(labels_of(*data), (std::vector<std::int32_t>{1, 0, 1}));
    EXPECT_EQ(inputs_of(*data), (Reals{1, 2, 3, 4, 5, 6}));
  }
  EXPECT_EQ(labels_of(*open({{"class_names", std::string("tulip, rose, \"lily, white\"")}})),
            (std::vector<std::int32_t>{1, 2, 1}));
  expect_error([&] { open({{"classes", std::int64_t{3}}}); }, {"2 labels", "'classes' is 3"});

  // A test file has the classes of training, though it may lack some.
  const std::string test = write("x,y,kind\n7,8,rose\n", "test.csv");
  EXPECT_EQ(labels_of(*open({{"test_file", test}}, Split::test)), std::vector<std::int32_t>{1});
  write("x,y,kind\n7,8,ross\n", "test.csv");
  expect_error(
      [&] {
        open({{"test_file", test}}, Split::test);
      },
      {"test.csv: line 2, column 2 (kind)", "'ross' is no label", "did you mean 'rose'"});
}

TEST_F(CsvTest, IgnoredColumnsMayHoldAnything) {
  write("id,x,y\nA1,1,2\n,3,4\n");
  EXPECT_EQ(inputs_of(*open({{"ignore", std::string("id")}})), (Reals{1, 3}));
  expect_error([&] { open({}); }, {"line 2, column 0 (id)", "'A1' is no number", "'ignore'"});
  expect_error(
      [&] {
        open({{"ignore", std::string("id, y")}});
      },
      {"'ignore' names column 'y'", "which is the target"});
}

TEST_F(CsvTest, MissingValues) {
  write("a,b,y\n1,10,1\n?,30,2\n3,NA,3\n");
  expect_error([&] { open({}); },
               {"t.csv: line 3, column 0 (a)", "'?' is a missing value", "missing = \"mean\""});
  const Settings filled = {{"missing", std::string("mean")},
                           {"mean", std::vector<double>{}},
                           {"std", std::vector<double>{}}};
  // Means 2 and 20, deviations 1 and 10, of what is there.
  const auto data = open(filled);
  EXPECT_EQ(data->scaling.mean, (Reals{2, 20}));
  EXPECT_EQ(data->scaling.std, (Reals{1, 10}));
  EXPECT_EQ(inputs_of(*data), (Reals{-1, -1, 0, 1, 1, 0}));
  // By the training part in the test part too.
  Settings other = filled;
  other.set("test_file", write("a,b,y\n,25,1\n", "test.csv"));
  EXPECT_EQ(inputs_of(*open(other, Split::test)), (Reals{0, 0.5}));
  write("a,b,y\n,10,1\n,20,2\n");
  expect_error([&] { open(filled); }, {"column 0 (a) has no number", "'ignore'"});
  write("a,y\n1,\n2,3\n");
  expect_error([&] { open(filled); }, {"line 2, column 1 (y)", "'' is a missing value"});
}

TEST_F(CsvTest, TargetsAreScaledByTheTrainingPart) {
  write("x,y,z\n1,100,5\n2,300,5\n");
  const Settings given = {{"target", std::string("y, z")},
                          {"target_mean", std::vector<double>{}},
                          {"target_std", std::vector<double>{}}};
  const auto data = open(given);
  EXPECT_EQ(targets_of(*data), (Reals{-1, 0, 1, 0}));
  EXPECT_EQ(data->target_scaling.mean, (Reals{200, 5}));
  EXPECT_EQ(data->target_scaling.std, (Reals{100, 1})) << "what never changes is only shifted";
  Settings other = given;
  other.set("test_file", write("x,y,z\n1,500,6\n", "test.csv"));
  EXPECT_EQ(targets_of(*open(other, Split::test)), (Reals{3, 1}));
  EXPECT_EQ(targets_of(*open({{"target", std::string("y, z")}})), (Reals{100, 5, 300, 5}));
}

TEST_F(CsvTest, ATestFileHasTheColumnsOfTraining) {
  write("a,b,y\n1,2,3\n");
  const Settings given = {{"mean", std::vector<double>{}},
                          {"std", std::vector<double>{}},
                          {"test_file", write("b,a,y\n1,2,3\n", "test.csv")}};
  expect_error([&] { open(given, Split::test); },
               {"test.csv", "column 'b' stands where", "has 'a'"});
}

TEST_F(CsvTest, TargetsByNameOrNumber) {
  write("a,b,c,d\n1,2,3,4\n5,6,7,8\n");
  const auto last = open({});
  EXPECT_EQ(last->classes, 0);
  EXPECT_EQ(last->target_shape(), (Shape{1}));
  EXPECT_EQ(inputs_of(*last), (Reals{1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(targets_of(*last), (Reals{4, 8}));
  const auto named = open({{"target", std::string("c, a")}, {"ignore", std::string("-1")}});
  EXPECT_EQ(named->target_shape(), (Shape{2}));
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
  data->read(indices, {.fields = {nullptr, labels}});
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
  expect("1,2\n3,nan\n", {"line 2, column 1 (1)", "'nan' is a missing value"});
  expect("1,2\n3,inf\n", {"line 2, column 1 (1)", "'inf' is no number"});
  expect("a\n1\n", {"no column is left"});
  write("size,price\n1,2\n");
  expect_error(
      [&] {
        open({{"target", std::string("prize")}});
      },
      {"t.csv", "no column 'prize'", "did you mean 'price'"});
  expect_error([&] { open({{"target", std::int64_t{2}}}); }, {"no column '2'", "-2 to 1"});
  expect_error([&] { open({{"target", std::string("")}}); }, {"'target' is empty"});
  expect_error([&] { open({{"classes", std::int64_t{2}}}); }, {"line 2", "price", "2 is no label"});
  expect_error(
      [&] {
        open({{"classes", std::int64_t{3}}, {"target", std::string("0,1")}});
      },
      {"2 columns", "label is one"});
  expect_error([&] { open({{"separator", std::string("ab")}}); }, {"'separator'"});
  expect_error(
      [&] {
        open({{"target_mean", 1.0}, {"target_std", std::vector<double>{}}});
      },
      {"'target_std' is empty", "'target_mean' is given"});
  expect_error([&] { open({{"file", std::string("/none.csv")}}); }, {"none.csv", "No such file"});
}

}  // namespace
}  // namespace tutti::data
