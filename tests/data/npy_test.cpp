// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/npy.h"

#include "data/npy_files.h"

namespace tutti::data {
namespace {

class NpyTest : public testing::Test {
 protected:
  std::unique_ptr<Dataset> open(Settings given, Split split = Split::train) const {
    for (const char* name : {"x", "y", "test_x", "test_y"})
      if (!given.has(name))
        given.set(name, scratch.folder().string() + "/" + name[std::strlen(name) - 1] + ".npy");
    if (!given.has("mean")) given.set("mean", 0.0), given.set("std", 1.0);
    if (!given.has("target_mean")) given.set("target_mean", 0.0), given.set("target_std", 1.0);
    return npy().open(resolve(npy().settings, given, "test"), split);
  }

  const Scratch scratch;
};

TEST_F(NpyTest, EveryElementTypeAndVersion) {
  scratch.write("y.npy", npy_bytes<std::int64_t>("<i8", "(2,)", {1, 0}));
  const auto expect_values = [&](const Bytes& file) {
    scratch.write("x.npy", file);
    const auto data = open({{"classes", std::int64_t{2}}});
    EXPECT_EQ(data->sample_shape(), (Shape{3}));
    const std::int64_t indices[] = {1, 0};
    float x[6];
    std::int32_t labels[2];
    data->read(indices, {.fields = {x, labels}});
    EXPECT_EQ(std::vector<float>(x, x + 6), (std::vector<float>{4, 5, 6, 1, 2, 3}));
    EXPECT_EQ(labels[0], 0);
    EXPECT_EQ(labels[1], 1);
  };
  expect_values(npy_bytes<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6}));
  expect_values(npy_bytes<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6}, 2));
  expect_values(npy_bytes<std::int32_t>("<i4", "(2, 3)", {1, 2, 3, 4, 5, 6}));
  expect_values(npy_bytes<std::int64_t>("<i8", "(2, 3)", {1, 2, 3, 4, 5, 6}, 3));
  expect_values(npy_bytes<std::uint8_t>("|u1", "(2, 3)", {1, 2, 3, 4, 5, 6}));
  expect_values(
      npy_bytes<std::uint16_t>("<f2", "(2, 3)", {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600}));
}

// Bits as IEEE 754 has them: the largest, the smallest normal and subnormal ones, a third.
TEST_F(NpyTest, HalvesAndBooleans) {
  scratch.write("x.npy", npy_bytes<std::uint16_t>(
                             "<f2", "(2, 3)", {0xfbff, 0x0400, 0x0001, 0x3555, 0x8000, 0x3c01}));
  scratch.write("y.npy", npy_bytes<std::uint8_t>("|b1", "(2,)", {1, 0}));
  const auto data = open({{"classes", std::int64_t{2}}});
  const std::int64_t both[] = {0, 1};
  float x[6];
  std::int32_t labels[2];
  data->read(both, {.fields = {x, labels}});
  EXPECT_EQ(x[0], -65504.0f);
  EXPECT_EQ(x[1], 0x1p-14f);
  EXPECT_EQ(x[2], 0x1p-24f);
  EXPECT_EQ(x[3], 0.333251953125f);
  EXPECT_EQ(x[4], 0.0f);
  EXPECT_EQ(x[5], 1 + 0x1p-10f);
  EXPECT_EQ(labels[0], 1);
  EXPECT_EQ(labels[1], 0);
  scratch.write("x.npy", npy_bytes<std::uint8_t>("|b1", "(2, 2)", {0, 1, 1, 0}));
  open({{"classes", std::int64_t{2}}})->read(both, {.fields = {x}});
  EXPECT_EQ(std::vector<float>(x, x + 4), (std::vector<float>{0, 1, 1, 0}));
}

TEST_F(NpyTest, TargetsAreScaledByTheTrainingPart) {
  scratch.write("x.npy", npy_bytes<float>("<f4", "(2, 1)", {1, 2}));
  scratch.write("y.npy", npy_bytes<double>("<f8", "(2, 2)", {1000, 1, 3000, 3}));
  const Settings measured = {{"target_mean", std::vector<double>{}},
                             {"target_std", std::vector<double>{}}};
  const auto data = open(measured);
  EXPECT_EQ(data->target_scaling.mean, (std::vector<double>{2000, 2}));
  EXPECT_EQ(data->target_scaling.std, (std::vector<double>{1000, 1}));
  const std::int64_t second[] = {1};
  double y[2];
  data->read(second, {.dtype = DType::f64, .fields = {nullptr, y}});
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 1);
}

TEST_F(NpyTest, ImagesAndTargets) {
  scratch.write("x.npy", npy_bytes<std::uint8_t>("|u1", "(2, 2, 3)", Bytes(12, 6)));
  scratch.write("y.npy", npy_bytes<float>("<f4", "(2, 2)", {1, 2, 3, 4}));
  const auto data = open({{"mean", 2.0}, {"std", 4.0}});
  EXPECT_EQ(data->sample_shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(data->classes, 0);
  EXPECT_EQ(data->target_shape(), (Shape{2}));
  const std::int64_t second[] = {1};
  double x[6], y[2];
  data->read(second, {.dtype = DType::f64, .fields = {x, y}});
  EXPECT_EQ(x[5], 1);
  EXPECT_EQ(y[0], 3);
  EXPECT_EQ(y[1], 4);
  scratch.write("x.npy", npy_bytes<std::uint8_t>("|u1", "(2, 3, 1, 2)", Bytes(12, 6)));
  EXPECT_EQ(open({})->sample_shape(), (Shape{3, 1, 2}));
  scratch.write("x.npy", npy_bytes<std::uint8_t>("|u1", "(2,)", Bytes(2, 6)));
  EXPECT_EQ(open({})->sample_shape(), (Shape{1}));
}

TEST_F(NpyTest, AFractionIsTheTestPart) {
  scratch.write("x.npy", npy_bytes<std::uint8_t>("|u1", "(10, 1)", counting(10)));
  scratch.write("y.npy", npy_bytes<std::uint8_t>("|u1", "(10,)", counting(10)));
  const Settings given = {{"test_x", std::string()}, {"test_y", std::string()}};
  const auto train = open(given), test = open(given, Split::test);
  EXPECT_EQ(train->count, 8);
  EXPECT_EQ(test->count, 2);
  const std::int64_t first[] = {0};
  float x = 0, y = 0;
  test->read(first, {.fields = {&x, &y}});
  EXPECT_EQ(x, y) << "inputs and targets stay together";
  expect_error([&] { open({{"test_x", std::string()}}); }, {"'test_x' and 'test_y'"});
}

TEST_F(NpyTest, Errors) {
  const std::vector<float> six = {1, 2, 3, 4, 5, 6};
  const auto expect = [&](const Bytes& file, std::initializer_list<const char*> parts) {
    const std::string path = scratch.write("e.npy", file);
    expect_error([&] { NpyFile{path}; }, parts);
  };
  expect({'P', 'K'}, {"e.npy", "not a .npy file"});
  Bytes whole = npy_bytes("<f4", "(2, 3)", six);
  expect(Bytes(whole.begin(), whole.begin() + 40), {"e.npy", "ends inside its header"});
  expect(Bytes(whole.begin(), whole.end() - 1), {"23 bytes", "expected 24 for 2×3", "cut off"});
  whole.push_back(0);
  expect(whole, {"25 bytes", "expected 24"});
  expect(npy_bytes("<f4", "(2, 3)", six, 1, "True"), {"Fortran order", "ascontiguousarray"});
  expect(npy_bytes(">f4", "(2, 3)", six), {"'>f4'", "little-endian"});
  expect(npy_bytes("|O", "(2, 3)", six), {"'|O' (Python objects)", "expected"});
  expect(npy_bytes("<c8", "(2, 3)", six), {"'<c8'"});
  expect(npy_bytes("<f4", "(9999999999, 9999999999)", six), {"announces", "damaged"});
  expect(npy_bytes("<f4", "2", six), {"no tuple"});
  expect(npy_bytes("<f4", "(x,)", six), {"not made of numbers"});
  expect(npy_bytes("<f4", "(2, 3)", six, 9), {"version 9"});

  scratch.write("x.npy", npy_bytes("<f4", "(2, 3)", six));
  scratch.write("y.npy", npy_bytes<std::int32_t>("<i4", "(3,)", {0, 1, 2}));
  expect_error([&] { open({}); }, {"y.npy", "of 3", "x.npy has 2 samples"});
  scratch.write("y.npy", npy_bytes<std::int32_t>("<i4", "(2,)", {0, 7}));
  expect_error(
      [&] {
        open({{"classes", std::int64_t{7}}});
      },
      {"y.npy", "label 7 at position 1", "0 to 6"});
  scratch.write("y.npy", npy_bytes<float>("<f4", "(2,)", {0, 1}));
  expect_error([&] { open({{"classes", std::int64_t{2}}}); }, {"y.npy", "floating-point"});
  scratch.write("y.npy", npy_bytes<std::int32_t>("<i4", "(2, 2)", {0, 1, 0, 1}));
  expect_error([&] { open({{"classes", std::int64_t{2}}}); }, {"one label for each sample"});
  scratch.write("x.npy", npy_bytes("<f4", "()", std::vector<float>{1}));
  expect_error([&] { open({}); }, {"x.npy", "samples first"});
}

}  // namespace
}  // namespace tutti::data
