// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/image_folder.h"

#include "tutti/data/prefetch.h"

#include "data/image_files.h"

#include <numeric>
#include <set>
#include <thread>

namespace tutti::data {
namespace {

// A gray PNG of 4×4 with this shade.
Bytes shade(std::uint8_t value) {
  return png_bytes(4, 4, PNG_FORMAT_GRAY, uniform_pixels(4, 4, {value}));
}

class ImageFolderTest : public testing::Test {
 protected:
  std::unique_ptr<Dataset> open(Split split, Settings given = {}) const {
    given.set("folder", scratch.folder().string());
    if (!given.has("size")) given.set("size", std::int64_t{2});
    given.set("mean", 0.0);
    given.set("std", 1.0);
    return image_folder().open(resolve(image_folder().settings, given, "test"), split);
  }
  // The shade of each sample's first pixel, and its label.
  static std::vector<std::pair<int, int>> samples_of(const Dataset& data) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(data.count));
    std::iota(all.begin(), all.end(), 0);
    const auto n = static_cast<std::size_t>(elements(data.sample_shape()));
    std::vector<float> x(all.size() * n);
    std::vector<std::int32_t> labels(all.size());
    data.read(all, {.fields = {x.data(), labels.data()}});
    std::vector<std::pair<int, int>> samples;
    for (std::size_t i = 0; i < all.size(); ++i)
      samples.emplace_back(static_cast<int>(std::lround(255 * x[i * n])), labels[i]);
    return samples;
  }

  const Scratch scratch;
};

using Pairs = std::vector<std::pair<int, int>>;

TEST_F(ImageFolderTest, ClassesAndFilesAreSortedByName) {
  scratch.write("train/cat/b.png", shade(20));
  scratch.write("train/cat/a.JPG", jpeg_bytes(4, 4, 1, uniform_pixels(4, 4, {10})));
  scratch.write("train/ant/z.png", shade(30));
  scratch.write("train/ant/notes.txt", {'x'});
  scratch.write("train/ant/.hidden.png", {'x'});
  scratch.write("val/ant/1.png", shade(40));
  scratch.write("val/cat/1.jpeg", jpeg_bytes(4, 4, 1, uniform_pixels(4, 4, {50})));
  const auto train = open(Split::train), test = open(Split::test);
  EXPECT_EQ(train->name, "folder");
  EXPECT_EQ(train->classes, 2);
  EXPECT_EQ(train->class_names, test->class_names);
  EXPECT_EQ(train->class_names.size(), 2u);
  EXPECT_LT(train->class_names[0], train->class_names[1]);
  EXPECT_EQ(train->sample_shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(samples_of(*train), (Pairs{{30, 0}, {10, 1}, {20, 1}}));
  EXPECT_EQ(samples_of(*test), (Pairs{{40, 0}, {50, 1}}));
  EXPECT_EQ(open(Split::train,
                 {{"colour", std::string("gray")}, {"size", std::vector<std::int64_t>{5, 7}}})
                ->sample_shape(),
            (Shape{1, 5, 7}));
}

TEST_F(ImageFolderTest, AFractionIsTheTestPart) {
  for (std::uint8_t i = 0; i < 20; ++i)
    scratch.write((i % 2 == 0 ? "a/" : "b/") + std::to_string(100 + i) + ".png", shade(i));
  const Settings quarter = {{"test_fraction", 0.25}};
  const Pairs train = samples_of(*open(Split::train, quarter)),
              test = samples_of(*open(Split::test, quarter));
  EXPECT_EQ(train.size(), 15u);
  EXPECT_EQ(test.size(), 5u);
  std::set<std::pair<int, int>> all(train.begin(), train.end());
  all.insert(test.begin(), test.end());
  EXPECT_EQ(all.size(), 20u);
  EXPECT_EQ(samples_of(*open(Split::test, quarter)), test);
  EXPECT_NE(
      samples_of(*open(Split::test, {{"test_fraction", 0.25}, {"split_seed", std::int64_t{1}}})),
      test);
  expect_error([&] { open(Split::test, {{"test_fraction", 0.0}}); }, {"test_fraction", "testing"});
}

// What the cache holds is not read again; what it has no room for is.
TEST_F(ImageFolderTest, DecodedImagesAreKeptUpToTheBudget) {
  for (int i = 0; i < 4; ++i) {
    scratch.write("train/a/" + std::to_string(i) + ".png", shade(static_cast<std::uint8_t>(i)));
    scratch.write("test/a/" + std::to_string(i) + ".png", shade(9));
  }
  const auto data = open(Split::train, {{"cache", std::int64_t{2 * 12 + 5}}});  // of 12 bytes each
  EXPECT_EQ(samples_of(*data), (Pairs{{0, 0}, {1, 0}, {2, 0}, {3, 0}}));
  for (int i = 0; i < 4; ++i) scratch.write("train/a/" + std::to_string(i) + ".png", shade(100));
  EXPECT_EQ(samples_of(*data), (Pairs{{0, 0}, {1, 0}, {100, 0}, {100, 0}}));
}

TEST_F(ImageFolderTest, ThreadsReadTheSame) {
  for (int i = 0; i < 30; ++i)
    scratch.write("a/" + std::to_string(100 + i) + ".png", shade(static_cast<std::uint8_t>(i)));
  const Settings most = {{"test_fraction", 0.1}};
  const Pairs expected = samples_of(*open(Split::train, most));
  const auto data = open(Split::train, most);
  std::vector<Pairs> found(4);
  {
    std::vector<std::jthread> threads;
    for (Pairs& own : found) threads.emplace_back([&] { own = samples_of(*data); });
  }
  for (const Pairs& own : found) EXPECT_EQ(own, expected);
}

TEST_F(ImageFolderTest, CorruptImageIsNamedWhenItIsRead) {
  scratch.write("train/a/0.png", shade(1));
  const Bytes whole = jpeg_bytes(40, 40, 3, counting(4800));
  scratch.write("train/a/1.jpg", Bytes(whole.begin(), whole.begin() + 500));
  scratch.write("test/a/0.png", shade(1));
  const auto data = open(Split::train);
  Prefetch prefetch(*data, Sampler({.count = 2, .batch = 2}), {.threads = 2});
  expect_error([&] { prefetch.next(); }, {"train/a/1.jpg", "damaged"});
}

TEST_F(ImageFolderTest, Errors) {
  expect_error([&] { open(Split::train); }, {scratch.folder().c_str(), "no class folders"});
  expect_error([&] { open(Split::train, {{"folder", std::string("/none")}}); }, {"class folders"});
  std::filesystem::create_directories(scratch.folder() / "a");
  expect_error([&] { open(Split::train); }, {"/a", "no .png, .jpg or .jpeg"});
  scratch.write("train/a/1.png", shade(1));
  scratch.write("test/b/1.png", shade(1));
  expect_error([&] { open(Split::train); }, {"test/b", "does not have"});
  scratch.write("train/b/1.png", shade(1));
  expect_error([&] { open(Split::test); }, {"1 classes", "has 2"});
  expect_error(
      [&] {
        open(Split::train, {{"size", std::vector<std::int64_t>{1, 2, 3}}});
      },
      {"'size' has 3 numbers"});
  const Settings elsewhere =
      resolve(image_folder().settings, {{"folder", std::string("/none")}}, "t");
  expect_error([&] { image_folder().open(elsewhere, Split::train); }, {"/none", "No such file"});
}

}  // namespace
}  // namespace tutti::data
