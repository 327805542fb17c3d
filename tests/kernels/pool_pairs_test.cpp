// SPDX-License-Identifier: Apache-2.0
// Max-pooling of plain images by windows of 2×2, for rows of every width around that of a vector.
#include "tutti/kernels/backends.h"
#include "tutti/ops/max_pool.h"

#include "contract/interpreter.h"
#include "contract/one_node.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::ops {
namespace {

using contract::Array;

// B16: small integers, so that windows hold equal maxima: the first must win.
TEST(PoolPairs, B16AgreesWithTheReferenceWhereMaximaAreEqual) {
  const KernelTable table = cpu_kernels();
  for (const std::int64_t width : {2, 6, 14, 16, 18, 28, 32, 50}) {
    Array x = contract::random_array({DType::f32, {3, 2, 6, width}}, 1);
    for (std::int64_t i = 0; i < elements(x.type.shape); ++i) x.set(i, std::floor(2 * x.get(i)));
    Settings settings = resolve(max_pool.settings, {{"kernel", Shape{2}}}, "");
    const std::vector<Array> pooled = contract::run_reference(max_pool, settings, {x});
    contract::OneNode forward(max_pool, settings, {x}, table, 2);
    EXPECT_EQ(forward.program().implementation(forward.step()), "simd");
    forward.run();
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_EQ(contract::difference(forward.outputs()[k], pooled[k]), 0) << width;

    const Array dy = contract::random_array(pooled[0].type, 2);
    settings =
        resolve(max_pool_grad.settings, {{"kernel", Shape{2}}, {"spatial", Shape{6, width}}}, "");
    contract::OneNode backward(max_pool_grad, settings, {dy, pooled[1]}, table, 2);
    EXPECT_EQ(backward.program().implementation(backward.step()), "simd");
    backward.run();
    EXPECT_EQ(
        contract::difference(backward.outputs()[0],
                             contract::run_reference(max_pool_grad, settings, {dy, pooled[1]})[0]),
        0)
        << width;
  }
}

}  // namespace
}  // namespace tutti::ops
