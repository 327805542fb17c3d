// SPDX-License-Identifier: Apache-2.0
// Data sets of the user's own files, from the recipe to the prediction, and what damaged files say.
#include "cli/run_cli.h"

#include "data/image_files.h"
#include "data/npy_files.h"

#include <nlohmann/json.hpp>

namespace tutti::cli {
namespace {

std::string text_of(const data::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

// Bright (class "light") or dark images.
std::string jpeg(int shade) {
  return text_of(data::jpeg_bytes(
      12, 10, 1, data::uniform_pixels(12, 10, {static_cast<std::uint8_t>(shade)})));
}

class DataSets : public testing::Test {
 protected:
  Result train(const std::string& recipe, const Words& more = {}) {
    sandbox.write("own.toml", recipe);
    Words words = {"train", "own.toml", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return sandbox.run(words);
  }

  Sandbox sandbox;
};

constexpr const char* folder_recipe = R"([model]
name = "mlp"
hidden = [8]
[data]
name = "folder"
folder = "images"
size = 8
colour = "gray"
flip = true
crop = 1
[train]
epochs = 20
batch = 8
readers = 2
[optimizer]
rate = 0.05
[machine]
threads = 1
)";

TEST_F(DataSets, FolderOfImagesThenPrediction) {
  for (const char* part : {"train", "test"})
    for (int i = 0; i < 8; ++i) {
      for (const char* name : {"dark", "light"})
        std::filesystem::create_directories(sandbox.file(fmt::format("images/{}/{}", part, name)));
      sandbox.write(fmt::format("images/{}/dark/{}.jpg", part, i), jpeg(10 + i));
      sandbox.write(fmt::format("images/{}/light/{}.jpg", part, i), jpeg(240 - i));
    }
  expect_success(train(folder_recipe));
  sandbox.write("a.jpg", jpeg(15));
  sandbox.write("b.jpeg", jpeg(235));
  std::filesystem::remove_all(sandbox.file("images"));  // the checkpoint is enough
  const Result result =
      sandbox.run({"predict", "--weights", "runs/own/checkpoint", "a.jpg", "b.jpeg"});
  expect_success(result);
  expect_in(result.out, {"a.jpg\tdark\t", "b.jpeg\tlight\t"});
  sandbox.write("b.jpeg", jpeg(235).substr(0, 150));
  expect_failure(sandbox.run({"predict", "--weights", "runs/own/checkpoint", "b.jpeg"}), 1,
                 {"b.jpeg", "JPEG file is damaged"});
}

TEST_F(DataSets, FolderFailures) {
  expect_failure(train(folder_recipe), 1, {"own.toml:4: [data]", "images", "No such file"});
  std::filesystem::create_directories(sandbox.file("images/a"));
  for (int i = 0; i < 20; ++i) sandbox.write(fmt::format("images/a/{:02}.jpg", i), jpeg(i));
  sandbox.write("images/a/07.jpg", jpeg(7).substr(0, 200));
  expect_failure(train(folder_recipe), 1, {"images/a/07.jpg", "damaged"});
  expect_failure(train(folder_recipe, {"--set", "data.fit=squash"}), 2, {"'fit'", "crop, stretch"});
}

constexpr const char* csv_recipe = R"([model]
name = "mlp"
hidden = [16]
[data]
name = "csv"
file = "houses.csv"
target = "price"
[train]
epochs = 200
batch = 16
[optimizer]
rule = "adam"
rate = 0.01
[machine]
threads = 1
)";

TEST_F(DataSets, CsvRegression) {
  std::string table = "size,rooms,price\n";
  for (int i = 0; i < 80; ++i)
    table += fmt::format("{},{},{}\n", 50 + i, 1 + i % 4, 0.02 * i + 0.1 * (i % 4));
  sandbox.write("houses.csv", table);
  expect_success(train(csv_recipe));
  const Result result = sandbox.run({"eval", "own.toml"});
  expect_success(result);
  expect_in(result.out, {"test loss 0.0", "test absolute error 0.0", "16 samples"});
  EXPECT_FALSE(contains(result.out, "accuracy")) << result.out;

  // The same prediction from all columns and from the inputs alone: 0.02 · 40 + 0.1 · 2.
  sandbox.write("all.csv", "size,rooms,price\n90,3,0\n");
  sandbox.write("inputs.csv", "90,3\n");
  const Result all = sandbox.run({"predict", "own.toml", "all.csv"}),
               inputs = sandbox.run({"predict", "own.toml", "inputs.csv"});
  expect_success(all);
  ASSERT_TRUE(all.out.starts_with("all.csv[0]\t")) << all.out;
  ASSERT_TRUE(inputs.out.starts_with("inputs.csv[0]\t")) << inputs.out;
  EXPECT_EQ(all.out.substr(11), inputs.out.substr(14));
  EXPECT_NEAR(std::stod(all.out.substr(11)), 1.0, 0.05);
  sandbox.write("none.csv", "1,2,3,4\n");
  expect_failure(sandbox.run({"predict", "own.toml", "none.csv"}), 1, {"none.csv", "'price'"});
}

// Prices in the hundred thousands: what is printed is in their unit, and neither the data of today
// nor NAME.state is asked how they were scaled.
TEST_F(DataSets, CsvTargetsInTheirUnit) {
  const auto houses = [](int unit) {
    std::string table = "size,rooms,price\n";
    for (int i = 0; i < 80; ++i)
      table += fmt::format("{},{},{}\n", 50 + i, 1 + i % 4, unit * (20 * i + 100 * (i % 4)));
    return table;
  };
  sandbox.write("houses.csv", houses(1000));
  expect_success(train(csv_recipe));
  const Result eval = sandbox.run({"eval", "own.toml", "--json"});
  expect_success(eval);
  const auto result = nlohmann::json::parse(eval.out);
  // 1 % of a price of 1,000,000 or so; the loss is of scaled targets, whose variance is 1.
  EXPECT_GT(result["absolute_error"].get<double>(), 10);
  EXPECT_LT(result["absolute_error"].get<double>(), 50'000);
  EXPECT_LT(result["loss"].get<double>(), 0.05);
  sandbox.write("new.csv", "size,rooms\n90,3\n");
  const Result before = sandbox.run({"predict", "own.toml", "new.csv"});
  expect_success(before);
  EXPECT_NEAR(std::stod(before.out.substr(before.out.find('\t') + 1)), 1'000'000, 50'000);
  sandbox.write("houses.csv", houses(3));
  std::filesystem::remove(sandbox.file("runs/own/checkpoint.state"));
  for (const Words& words : {Words{"predict", "own.toml", "new.csv"},
                             Words{"predict", "--weights", "runs/own/checkpoint", "new.csv"}}) {
    const Result after = sandbox.run(words);
    expect_success(after);
    EXPECT_EQ(after.out, before.out);
  }
}

// Unscaled, the loss is of the numbers in the file, up to 44.
TEST_F(DataSets, CsvTargetsMayStayAsTheyAre) {
  std::string table = "x,y\n";
  for (int i = 0; i < 40; ++i) table += fmt::format("{},{}\n", i, 5 + i);
  sandbox.write("houses.csv", table);
  const Words as_they_are = {"--set", "data.target=y",     "--set", "data.target_mean=0",
                             "--set", "data.target_std=1", "--set", "train.epochs=1"};
  expect_success(train(csv_recipe, as_they_are));
  const Result result = sandbox.run({"eval", "--weights", "runs/own/checkpoint", "--json"});
  expect_success(result);
  EXPECT_GT(nlohmann::json::parse(result.out)["loss"].get<double>(), 10) << "of (5 + i)²";
}

// Words as labels, a column to ignore, missing values, from the file to the prediction.
TEST_F(DataSets, CsvWordsAreClasses) {
  std::string table = "id,width,height,kind\n";
  for (int i = 0; i < 60; ++i)
    table += i % 2 == 0 ? fmt::format("a{},{},1.5,\"oak, old\"\n", i, 1 + i % 3)
                        : fmt::format("b{},{},{},elm\n", i, 11 + i % 3, i % 5 == 0 ? "NA" : "9");
  sandbox.write("houses.csv", table);
  const Words words = {"--set", "data.target=kind",  "--set", "data.ignore=id",
                       "--set", "data.missing=mean", "--set", "train.epochs=20"};
  expect_success(train(csv_recipe, words));
  sandbox.write("new.csv", "width,height\n12,\n2,1.5\n");
  const Result result = sandbox.run({"predict", "--weights", "runs/own/checkpoint", "new.csv"});
  expect_success(result);
  expect_in(result.out, {"new.csv[0]\telm\t", "new.csv[1]\toak, old\t"});
  const Result eval = sandbox.run({"eval", "--weights", "runs/own/checkpoint"});
  expect_success(eval);
  expect_in(eval.out, {"test accuracy 100.00 %", "elm", "oak, old  "});
  Words refused = words;
  refused[5] = "data.missing=refuse";
  expect_failure(train(csv_recipe, refused), 1,
                 {"houses.csv: line 7, column 2 (height)", "'NA' is a missing value"});
}

TEST_F(DataSets, CsvFailures) {
  sandbox.write("houses.csv", "size,price\n1,2\n3,x\n");
  expect_failure(train(csv_recipe), 1,
                 {"own.toml:4: [data]", "houses.csv: line 3, column 1 (price)", "'x'"});
  expect_failure(train(csv_recipe, {"--set", "data.target=prise"}), 1, {"houses.csv"});
  expect_failure(train(csv_recipe, {"--set", "data.flip=true"}), 2, {"unknown key 'flip'"});
}

// y = x₀ − x₁ of integers, learnt from arrays.
TEST_F(DataSets, NpyRegression) {
  std::vector<float> x, y;
  for (int i = 0; i < 60; ++i) {
    x.insert(x.end(), {static_cast<float>(i % 7), static_cast<float>(i % 5)});
    y.push_back(static_cast<float>(i % 7 - i % 5));
  }
  sandbox.write("x.npy", text_of(data::npy_bytes("<f4", "(60, 2)", x)));
  sandbox.write("y.npy", text_of(data::npy_bytes("<f4", "(60,)", y)));
  sandbox.write("one.npy", text_of(data::npy_bytes<std::int32_t>("<i4", "(1, 2)", {5, 2})));
  const std::string recipe = R"([[model.layers]]
type = "linear"
units = 1
[data]
name = "npy"
x = "x.npy"
y = "y.npy"
[train]
epochs = 100
batch = 16
[optimizer]
rule = "adam"
rate = 0.05
[machine]
threads = 1
)";
  expect_success(train(recipe));
  const Result result = sandbox.run({"predict", "own.toml", "one.npy"});
  expect_success(result);
  ASSERT_TRUE(result.out.starts_with("one.npy[0]\t")) << result.out;
  EXPECT_NEAR(std::stod(result.out.substr(11)), 3, 0.05);
  expect_failure(sandbox.run({"predict", "own.toml", "y.npy"}), 1,
                 {"y.npy", "samples of 1", "trained on 2"});
  sandbox.write("y.npy", text_of(data::npy_bytes("<f4", "(60,)", y, 1, "True")));
  expect_failure(train(recipe), 1, {"[data]", "y.npy", "Fortran order"});
}

TEST_F(DataSets, CifarFailures) {
  const std::string recipe =
      "[model]\nname = \"mlp\"\n[data]\nname = \"cifar10\"\nfolder = \"here\"\n[train]\nsteps = "
      "1\n";
  expect_failure(train(recipe), 1,
                 {"own.toml:3: [data]", "here/data_batch_1.bin", "tutti data get cifar10"});
  std::filesystem::create_directory(sandbox.file("here"));
  sandbox.write("here/data_batch_1.bin", std::string(3000, 'x'));
  expect_failure(train(recipe), 1, {"own.toml:3: [data]", "here/data_batch_1.bin", "3073"});
  EXPECT_FALSE(sandbox.has("runs")) << "nothing was begun";
}

}  // namespace
}  // namespace tutti::cli
