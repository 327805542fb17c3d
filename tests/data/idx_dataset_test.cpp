// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/idx_dataset.h"

#include "data/scratch.h"

namespace tutti::data {
namespace {

TEST(IdxDataset, ReadsScaledPixelsAndLabels) {
  const Scratch scratch;
  const std::string images =
      scratch.write("i", gzip_bytes(idx_bytes({3, 1, 2}, {0, 255, 51, 102, 5, 6})));
  const std::string labels = scratch.write("l", idx_bytes({3}, {2, 0, 1}));
  const Settings settings = resolve(idx().settings,
                                    {{"images", images},
                                     {"labels", labels},
                                     {"classes", std::int64_t{3}},
                                     {"mean", 0.5},
                                     {"std", 2.0}},
                                    "test");
  const auto data = idx().open(settings, Split::train);
  EXPECT_EQ(data->count, 3);
  EXPECT_EQ(data->classes, 3);
  EXPECT_EQ(data->sample_shape(), (Shape{1, 1, 2}));
  const std::int64_t indices[] = {1, 0, 1};
  float x[6];
  std::int32_t label[3];
  data->read(indices, {.fields = {x, label}});
  const float expected[] = {-0.15f, -0.05f, -0.25f, 0.25f, -0.15f, -0.05f};
  for (int i = 0; i < 6; ++i) EXPECT_FLOAT_EQ(x[i], expected[i]) << i;
  EXPECT_EQ(std::vector<std::int32_t>(label, label + 3), (std::vector<std::int32_t>{0, 2, 0}));
}

TEST(IdxDataset, TestFilesAreNeededForTheTestPart) {
  const Settings settings =
      resolve(idx().settings, {{"images", std::string("a")}, {"labels", std::string("b")}}, "test");
  expect_error([&] { idx().open(settings, Split::test); }, {"no test files", "'test_images'"});
  expect_error([&] { resolve(idx().settings, {}, "[data]"); }, {"[data]", "images"});
}

TEST(IdxDataset, TestPartReadsTheTestFiles) {
  const Scratch scratch;
  const std::string images = scratch.write("i", idx_bytes({1, 1, 1}, {0}));
  const std::string labels = scratch.write("l", idx_bytes({1}, {0}));
  const std::string test_images = scratch.write("ti", idx_bytes({2, 1, 1}, {0, 0}));
  const std::string test_labels = scratch.write("tl", idx_bytes({2}, {0, 1}));
  const Settings settings = resolve(idx().settings,
                                    {{"images", images},
                                     {"labels", labels},
                                     {"test_images", test_images},
                                     {"test_labels", test_labels}},
                                    "test");
  EXPECT_EQ(idx().open(settings, Split::train)->count, 1);
  EXPECT_EQ(idx().open(settings, Split::test)->count, 2);
}

TEST(Mnist, ReadsPlainOrGzipFilesFromTheDataFolder) {
  const Scratch scratch;
  const Environment data("TUTTI_DATA", scratch.folder().c_str());
  const Settings settings = resolve(mnist().settings, {}, "test");
  expect_error([&] { mnist().open(settings, Split::train); },
               {"train-images-idx3-ubyte is missing", "tutti data get mnist"});
  scratch.write("mnist/train-images-idx3-ubyte", idx_bytes({2, 28, 28}, counting(2 * 784)));
  expect_error([&] { mnist().open(settings, Split::train); },
               {"train-labels-idx1-ubyte is missing", "tutti data get mnist"});
  scratch.write("mnist/train-labels-idx1-ubyte.gz", gzip_bytes(idx_bytes({2}, {3, 9})));
  const auto train = mnist().open(settings, Split::train);
  EXPECT_EQ(train->name, "mnist");
  EXPECT_EQ(train->count, 2);
  EXPECT_EQ(train->sample_shape(), (Shape{1, 28, 28}));
  expect_error([&] { mnist().open(settings, Split::test); }, {"t10k-images-idx3-ubyte is missing"});
}

}  // namespace
}  // namespace tutti::data
