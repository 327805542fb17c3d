// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/scaling.h"

#include "tutti/data/dataset.h"
#include "tutti/data/synthetic.h"

#include "data/scratch.h"

#include <cmath>

namespace tutti::data {
namespace {

using Reals = std::vector<double>;

// Two channels of two values: (i, i + 1) and (7, 7) for sample i.
class Ramp : public Dataset {
 public:
  explicit Ramp(std::int64_t samples) {
    count = samples;
    fields = input_and_labels({2, 2});
    classes = 1;
  }
  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    auto* x = static_cast<double*>(into.fields[0]);
    for (const std::int64_t i : indices)
      for (const double value : {double(i), double(i + 1), 7.0, 7.0}) *x++ = value;
  }
};

TEST(Scaling, IsMeasuredPerChannel) {
  const Scaling scaling = measure_scaling(Ramp(3));  // 0 1 1 2 2 3
  EXPECT_NEAR(scaling.mean[0], 1.5, 1e-15);
  EXPECT_NEAR(scaling.std[0], std::sqrt(5.5 / 6), 1e-15);
  EXPECT_EQ(scaling.mean[1], 7);
  EXPECT_EQ(scaling.std[1], 1) << "a channel that never changes is not divided by 0";
}

// Of n > 4,096 samples those at i · n / 4096 count: here every second.
TEST(Scaling, IsMeasuredOnSamplesSpreadEvenly) {
  EXPECT_NEAR(measure_scaling(Ramp(8192)).mean[0], 4095 + 0.5, 1e-9);
}

TEST(Scaling, OneNumberOrOnePerChannel) {
  const std::vector<Setting> declared = scaling_settings({0}, {1});
  const Settings one = resolve(declared, {{"mean", 0.5}, {"std", std::int64_t{2}}}, "test");
  EXPECT_EQ(one.reals("mean"), Reals{0.5});
  EXPECT_EQ(one.reals("std"), Reals{2});
  const Scaling two{{0, 1}, {1, 4}};
  EXPECT_EQ(two(3, 0), 3.0f);
  EXPECT_EQ(two(3, 1), 0.5f);
  two.require_fit({2, 5, 5});
  expect_error([&] { two.require_fit({3, 5, 5}); }, {"'mean' has 2 numbers", "or 3", "3×5×5"});
}

TEST(Scaling, MeasuredOnTheTrainingPartForBoth) {
  const auto open = [](const Settings& given, Split split) {
    return open_scaled(resolve(scaling_settings({}, {}), given, "test"), split,
                       [](Split part, const Scaling&) {
                         return std::make_unique<Ramp>(part == Split::train ? 3 : 9);
                       });
  };
  EXPECT_EQ(open({}, Split::test)->count, 9);
  EXPECT_NEAR(open({}, Split::test)->scaling.mean[0], 1.5, 1e-15);
  expect_error([&] { open({{"mean", 0.5}}, Split::train); }, {"'std' is empty", "'mean'"});
}

TEST(Scaling, BytesAreScaledByChannel) {
  const ByteScaling scaled({{0, 0.2}, {1, 2}}, {2, 1, 2});
  const std::uint8_t bytes[] = {0, 255, 51, 102};
  double x[4];
  EXPECT_EQ(scaled.scale(bytes, x), x + 4);
  const float expected[] = {0, 1, 0, 0.1f};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(x[i], double{expected[i]}) << i;
}

}  // namespace
}  // namespace tutti::data
