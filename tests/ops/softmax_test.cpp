// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/softmax.h"

#include "tutti/core/rng.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::ops {
namespace {

TEST(Softmax, A01SumsToOne) {
  const std::int64_t rows = 20, classes = 1000;
  Argument x{{rows, classes}, {}};
  for (std::uint64_t i = 0; i < 20'000; ++i) x.values.push_back(10 * normal(1, i));
  const std::vector<double> y = run(softmax, {x});
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) sum += y[static_cast<std::size_t>(r * classes + c)];
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Softmax, A01LargeInputsStayFinite) {
  EXPECT_EQ(run(softmax, {{{3}, {1e4, -1e4, 1e4}}}), (Values{0.5, 0, 0.5}));
}

TEST(Softmax, GoesAlongTheAxis) {
  const double quarter = std::log(3.0);
  const Argument x{{2, 2, 1}, {0, 1, quarter, 1}};
  const auto y = run(softmax, {x}, {{"axis", std::int64_t{0}}});
  const std::vector<double> expected{0.25, 0.5, 0.75, 0.5};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 1e-15);
}

TEST(Softmax, AnAxisThatIsNotThereIsRefused) {
  EXPECT_EQ(error_of(softmax, {{DType::f32, {2, 3}}}, {{"axis", std::int64_t{2}}}),
            "[softmax] axis 2 of a tensor 2×3: expected -2 to 1");
}

}  // namespace
}  // namespace tutti::ops
