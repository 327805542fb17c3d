// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/cifar.h"

#include "data/scratch.h"

namespace tutti::data {
namespace {

// A record: labels, then pixels that are all `shade`, shade + 1, shade + 2 by channel.
Bytes record(const Bytes& labels, std::uint8_t shade) {
  Bytes bytes = labels;
  for (int c = 0; c < 3; ++c) bytes.insert(bytes.end(), 1024, static_cast<std::uint8_t>(shade + c));
  return bytes;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class Cifar : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint8_t i = 1; i <= 5; ++i)
      scratch.write("data_batch_" + std::to_string(i) + ".bin",
                    record({i}, i) + record({9}, static_cast<std::uint8_t>(10 * i)));
    scratch.write("test_batch.bin", record({7}, 100));
    scratch.write("train.bin", record({19, 99}, 5) + record({0, 1}, 6));
    scratch.write("test.bin", record({3, 4}, 7));
  }
  std::unique_ptr<Dataset> open(const DatasetEntry& entry, Split split, Settings given = {}) {
    given.set("folder", scratch.folder().string());
    return entry.open(resolve(entry.settings, given, "test"), split);
  }

  const Scratch scratch;
  const Settings raw = {{"mean", 0.0}, {"std", 1.0}};
};

TEST_F(Cifar, TenHasFiveTrainingFiles) {
  const auto data = open(cifar10(), Split::train, raw);
  EXPECT_EQ(data->count, 10);
  EXPECT_EQ(data->classes, 10);
  EXPECT_EQ(data->sample_shape(), (Shape{3, 32, 32}));
  const std::int64_t indices[] = {9, 2};
  std::vector<float> x(2 * 3072);
  std::int32_t labels[2];
  data->read(indices, {.fields = {x.data(), labels}});
  EXPECT_EQ(labels[0], 9);
  EXPECT_EQ(labels[1], 2);
  EXPECT_EQ(x[0], static_cast<float>(50 / 255.0));
  EXPECT_EQ(x[3071], static_cast<float>(52 / 255.0));
  EXPECT_EQ(x[3072], static_cast<float>(2 / 255.0));
  const auto test = open(cifar10(), Split::test);
  EXPECT_EQ(test->count, 1);
}

TEST_F(Cifar, ScaledByChannel) {
  const auto data = open(cifar10(), Split::test);
  const std::int64_t first[] = {0};
  std::vector<float> x(3072);
  data->read(first, {.fields = {x.data()}});
  EXPECT_FLOAT_EQ(x[0], static_cast<float>((100 / 255.0 - 0.4914) / 0.2470));
  EXPECT_FLOAT_EQ(x[1024], static_cast<float>((101 / 255.0 - 0.4822) / 0.2435));
  EXPECT_FLOAT_EQ(x[2048], static_cast<float>((102 / 255.0 - 0.4465) / 0.2616));
  EXPECT_EQ(data->scaling.mean, (std::vector<double>{0.4914, 0.4822, 0.4465}));
}

TEST_F(Cifar, HundredHasFineAndCoarseLabels) {
  const std::int64_t indices[] = {0, 1};
  std::int32_t labels[2];
  const auto fine = open(cifar100(), Split::train);
  EXPECT_EQ(fine->classes, 100);
  fine->read(indices, {.fields = {nullptr, labels}});
  EXPECT_EQ(labels[0], 99);
  EXPECT_EQ(labels[1], 1);
  const auto coarse = open(cifar100(), Split::train, {{"label", std::string("coarse")}});
  EXPECT_EQ(coarse->classes, 20);
  coarse->read(indices, {.fields = {nullptr, labels}});
  EXPECT_EQ(labels[0], 19);
  float x[2 * 3072];
  open(cifar100(), Split::train, raw)->read(indices, {.fields = {x}});
  EXPECT_EQ(x[3072], static_cast<float>(6 / 255.0));
}

TEST_F(Cifar, ClassesHaveNames) {
  const auto ten = open(cifar10(), Split::train);
  ASSERT_EQ(ten->class_names.size(), 10u);
  EXPECT_EQ(ten->class_names[3], "cat");
  EXPECT_TRUE(open(cifar100(), Split::train)->class_names.empty()) << "no file of names";
  std::string names;
  for (int i = 0; i < 20; ++i) names += fmt::format("name{}\n", i);
  scratch.write("coarse_label_names.txt", {names.begin(), names.end()});
  const Settings coarse = {{"label", std::string("coarse")}};
  EXPECT_EQ(open(cifar100(), Split::train, coarse)->class_names.at(19), "name19");
  scratch.write("coarse_label_names.txt", {'x', '\n'});
  expect_error([&] { open(cifar100(), Split::train, coarse); },
               {"coarse_label_names.txt", "1 names, expected 20"});
}

TEST_F(Cifar, FoundWhereTheArchivePutsThem) {
  scratch.write("outer/cifar-10-batches-bin/test_batch.bin", record({1}, 2));
  const Settings given =
      resolve(cifar10().settings, {{"folder", (scratch.folder() / "outer").string()}}, "test");
  EXPECT_EQ(cifar10().open(given, Split::test)->count, 1);
}

TEST_F(Cifar, Errors) {
  const Bytes whole = record({1}, 2);
  scratch.write("data_batch_3.bin", Bytes(whole.begin(), whole.end() - 1));
  expect_error([&] { open(cifar10(), Split::train); },
               {"data_batch_3.bin", "3072 bytes", "multiple of 3073", "cut off"});
  scratch.write("data_batch_3.bin", {});
  expect_error([&] { open(cifar10(), Split::train); }, {"data_batch_3.bin", "0 bytes"});
  scratch.write("data_batch_3.bin", record({1}, 1) + record({10}, 2));
  expect_error([&] { open(cifar10(), Split::train); },
               {"data_batch_3.bin", "label 10 in record 1", "expected 0 to 9"});
  scratch.write("train.bin", record({20, 3}, 1));
  expect_error([&] { open(cifar100(), Split::train); }, {"train.bin", "label 20", "0 to 19"});
  std::filesystem::remove(scratch.folder() / "data_batch_3.bin");
  expect_error([&] { open(cifar10(), Split::train); }, {"data_batch_3.bin", "No such file"});
}

TEST_F(Cifar, SaysHowToGetTheFiles) {
  const Environment folder("TUTTI_DATA", scratch.folder().c_str());
  expect_error([&] { cifar10().open(resolve(cifar10().settings, {}, "test"), Split::train); },
               {"CIFAR-10 is not there", "cifar10/data_batch_1.bin is missing",
                "tutti data get cifar10", "test_batch.bin"});
  expect_error([&] { cifar100().open(resolve(cifar100().settings, {}, "test"), Split::test); },
               {"CIFAR-100 is not there", "put the files", "train.bin"});
}

}  // namespace
}  // namespace tutti::data
