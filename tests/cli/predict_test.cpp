// SPDX-License-Identifier: Apache-2.0
#include "cli/idx_recipe.h"
#include "cli/run_cli.h"
#include "tutti/checkpoint/safetensors.h"

#include <nlohmann/json.hpp>
#include <png.h>

#include <sstream>

namespace tutti::cli {
namespace {

void write_png(const std::string& path, const std::string& pixels, unsigned extent) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = extent;
  image.format = PNG_FORMAT_GRAY;
  ASSERT_NE(png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr), 0);
}

struct Line {
  std::string name;
  int label = -1;
  double probability = 0;
};

std::vector<Line> predictions_in(const std::string& out) {
  std::vector<Line> lines;
  std::istringstream in(out);
  for (Line line; std::getline(in, line.name, '\t') && in >> line.label >> line.probability;) {
    in.ignore();
    lines.push_back(line);
  }
  return lines;
}

class Predict : public testing::Test {
 protected:
  void SetUp() override {
    write_idx_recipe(sandbox);
    expect_success(sandbox.run({"train", "idx.toml", "--quiet"}));
  }

  Sandbox sandbox;
};

TEST_F(Predict, IdxFiles) {
  const Result result = sandbox.run({"predict", "idx.toml", "test_images"});
  expect_success(result);
  const std::vector<Line> lines = predictions_in(result.out);
  ASSERT_EQ(lines.size(), 10u) << result.out;
  for (int i = 0; i < 10; ++i) {
    const Line& line = lines[static_cast<std::size_t>(i)];
    EXPECT_EQ(line.name, fmt::format("test_images[{}]", i));
    EXPECT_EQ(line.label, i % 2) << result.out;
    EXPECT_GT(line.probability, 0.5);
    EXPECT_LE(line.probability, 1.0);
  }
}

TEST_F(Predict, PngImagesAreTheSameSamples) {
  write_png(sandbox.file("left.png"), idx_image(0, 6), idx_extent);
  write_png(sandbox.file("right.png"), idx_image(1, 7), idx_extent);
  const Result png = sandbox.run({"predict", "idx.toml", "left.png", "right.png"});
  expect_success(png);
  const Result idx = sandbox.run({"predict", "idx.toml", "test_images"});
  const std::vector<Line> lines = predictions_in(png.out), all = predictions_in(idx.out);
  ASSERT_EQ(lines.size(), 2u) << png.out;
  EXPECT_EQ(lines[0].name, "left.png");
  EXPECT_EQ(lines[0].label, 0);
  EXPECT_EQ(lines[0].probability, all.at(6).probability);
  EXPECT_EQ(lines[1].label, 1);
  EXPECT_EQ(lines[1].probability, all.at(7).probability);
}

TEST_F(Predict, LargerImagesAreResized) {
  std::string pixels;
  for (int i = 0; i < 64 * 64; ++i) pixels += static_cast<char>(i % 64 >= 32 ? 255 : 0);
  write_png(sandbox.file("large.png"), pixels, 64);
  const Result result = sandbox.run({"predict", "idx.toml", "large.png"});
  expect_success(result);
  ASSERT_EQ(predictions_in(result.out).size(), 1u);
  EXPECT_EQ(predictions_in(result.out)[0].label, 1);
}

TEST_F(Predict, ACheckpointIsEnough) {
  const Result by_recipe = sandbox.run({"predict", "idx.toml", "test_images"});
  for (const char* file : {"idx.toml", "images", "labels", "test_labels"})
    std::filesystem::remove(sandbox.file(file));
  const Result result =
      sandbox.run({"predict", "--weights", "runs/idx/checkpoint.safetensors", "test_images"});
  expect_success(result);
  EXPECT_EQ(result.out, by_recipe.out);
}

// A file that can't be read is named; it takes nothing from the others.
TEST_F(Predict, BadFilesDoNotHideGoodOnes) {
  write_png(sandbox.file("a.png"), idx_image(0, 6), idx_extent);
  write_png(sandbox.file("b.png"), idx_image(1, 7), idx_extent);
  sandbox.write("bad.png", "no image");
  std::filesystem::create_directory(sandbox.file("empty"));
  const Result good = sandbox.run({"predict", "idx.toml", "a.png", "b.png"});
  expect_success(good);
  const Result result =
      sandbox.run({"predict", "idx.toml", "a.png", "bad.png", "none.png", "empty", "b.png"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, good.out);
  std::istringstream lines(result.err);
  for (const char* file : {"bad.png", "none.png", "empty"}) {
    std::string line;
    std::getline(lines, line);
    EXPECT_TRUE(line.starts_with("tutti: ") && contains(line, file)) << result.err;
  }
  EXPECT_EQ(lines.peek(), EOF) << result.err;
}

TEST_F(Predict, FoldersAreSearched) {
  for (const char* folder : {"in/deep", "in/.hidden"})
    std::filesystem::create_directories(sandbox.file(folder));
  write_png(sandbox.file("in/deep/b.PNG"), idx_image(1, 7), idx_extent);
  write_png(sandbox.file("in/z.png"), idx_image(0, 6), idx_extent);
  write_png(sandbox.file("in/.hidden/h.png"), idx_image(0, 6), idx_extent);
  sandbox.write("in/notes.txt", "no image");
  const Result result = sandbox.run({"predict", "idx.toml", "in"});
  expect_success(result);
  const std::vector<Line> lines = predictions_in(result.out);
  ASSERT_EQ(lines.size(), 2u) << result.out;
  EXPECT_EQ(lines[0].name, "in/deep/b.PNG");
  EXPECT_EQ(lines[0].label, 1);
  EXPECT_EQ(lines[1].name, "in/z.png");
}

TEST_F(Predict, TopClassesAndJson) {
  const Result one = sandbox.run({"predict", "idx.toml", "test_images"}),
               two = sandbox.run({"predict", "idx.toml", "test_images", "--top", "2"}),
               json = sandbox.run({"predict", "idx.toml", "test_images", "--top", "9", "--json"});
  for (const Result* result : {&one, &two, &json}) expect_success(*result);
  std::istringstream ones(one.out), twos(two.out), objects(json.out);
  std::string first, line, text;
  for (int i = 0; i < 10; ++i) {
    std::getline(ones, first);
    std::getline(twos, line);
    EXPECT_TRUE(line.starts_with(first + fmt::format("\t{}\t", 1 - i % 2))) << line;
    std::getline(objects, text);
    const auto object = nlohmann::json::parse(text);
    EXPECT_EQ(object["file"], "test_images");
    EXPECT_EQ(object["index"], i);
    ASSERT_EQ(object["classes"].size(), 2u);
    EXPECT_EQ(object["classes"][0]["label"], i % 2);
    EXPECT_EQ(object["classes"][0]["name"], std::to_string(i % 2));
    EXPECT_NEAR(object["classes"][0]["probability"].get<double>() +
                    object["classes"][1]["probability"].get<double>(),
                1, 1e-12);
  }
  expect_failure(sandbox.run({"predict", "idx.toml", "test_images", "--top", "0"}), 2, {"--top"});
}

// Neither the weights nor the recipe says how pixels were scaled: data of today need not tell.
TEST_F(Predict, ScalingIsNotGuessed) {
  const std::string file = sandbox.file("runs/idx/checkpoint.safetensors");
  write_safetensors(file, read_safetensors(file).tensors, {});
  std::filesystem::remove(sandbox.file("runs/idx/checkpoint.state"));
  expect_failure(sandbox.run({"predict", "--weights", "runs/idx/checkpoint", "test_images"}), 1,
                 {"runs/idx/checkpoint", "does not say which network"});
  expect_success(sandbox.run({"predict", "idx.toml", "test_images"}));
  expect_failure(sandbox.run({"predict", "idx.toml", "test_images", "--set", "data.mean=[]",
                              "--set", "data.std=[]"}),
                 1, {"does not say how the inputs", "data.mean"});
}

TEST_F(Predict, TheTestData) {
  const auto files = sandbox.run({"predict", "idx.toml", "test_images"});
  const auto data = sandbox.run({"predict", "idx.toml", "--test"});
  expect_success(data);
  std::string expected = files.out;
  for (std::size_t at = 0; (at = expected.find("test_images", at)) != std::string::npos;)
    expected.replace(at, 11, "test");
  EXPECT_EQ(data.out, expected);
}

TEST_F(Predict, WrongFiles) {
  expect_failure(sandbox.run({"predict", "idx.toml"}), 2, {"which images"});
  expect_failure(sandbox.run({"predict", "idx.toml", "--test", "a.png"}), 2, {"place of files"});
  expect_failure(sandbox.run({"predict", "idx.toml", "none.png"}), 1, {"none.png", "No such file"});
  expect_failure(sandbox.run({"predict", "idx.toml", "idx.toml"}), 1,
                 {"idx.toml", "expected a PNG or JPEG image or an IDX file"});
  expect_failure(sandbox.run({"predict", "idx.toml", "labels"}), 1, {"labels", "1 dimension"});
  sandbox.write("cut", idx_images(10).substr(0, 60));
  expect_failure(sandbox.run({"predict", "idx.toml", "cut"}), 1, {"cut off"});
  write_png(sandbox.file("half.png"), idx_image(0, 0), idx_extent);
  sandbox.write("half.png", sandbox.read("half.png").substr(0, 40));
  expect_failure(sandbox.run({"predict", "idx.toml", "half.png"}), 1, {"half.png"});
}

}  // namespace
}  // namespace tutti::cli
