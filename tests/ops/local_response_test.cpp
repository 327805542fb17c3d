// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/local_response.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::ops {
namespace {

// The paper's constants: k = 2, n = 5, α = 1e-4, β = 0.75.
TEST(LocalResponse, B36DividesByTheSquaresOfFiveChannels) {
  const Argument x{{1, 6, 1, 1}, {10, 20, 30, 40, 50, 60}};
  const Values y = run(local_response, {x});
  const auto expected = [](double a, double squares) {
    return a * std::pow(2 + 1e-4 * squares, -0.75);
  };
  EXPECT_NEAR(y[0], expected(10, 100 + 400 + 900), 1e-13);
  EXPECT_NEAR(y[2], expected(30, 100 + 400 + 900 + 1600 + 2500), 1e-13);
  EXPECT_NEAR(y[5], expected(60, 1600 + 2500 + 3600), 1e-13);
}

TEST(LocalResponse, AnEvenWindowIsRefused) {
  EXPECT_EQ(error_of(local_response, {{DType::f32, {2, 3, 4, 4}}}, {{"size", std::int64_t{4}}}),
            "[local_response] 'size' is 4, expected an odd number: the window is centred");
  EXPECT_EQ(error_of(local_response, {{DType::f32, {2}}}),
            "[local_response] x is f32 2, expected floating-point [n, c, …]");
}

}  // namespace
}  // namespace tutti::ops
