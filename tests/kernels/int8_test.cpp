// SPDX-License-Identifier: Apache-2.0
// B03: products of 8-bit integers are exact, with every kernel.
#include "tutti/kernels/backends.h"
#include "tutti/ops/matmul_i8.h"
#include "tutti/ops/quantise.h"

#include "contract/interpreter.h"
#include "contract/one_node.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

using contract::Array;

// Each kernel of the table alone.
std::vector<KernelTable> tables_for(const char* op) {
  std::vector<KernelTable> tables;
  const KernelTable all = cpu_kernels();
  for (const Implementation& one : all.by_op.at(op)) {
    tables.push_back(all);
    tables.back().by_op[op] = {one};
  }
  return tables;
}

// Also where all products have the largest magnitude and one sign: sums beyond 24 bits, and beyond
// 16 in every pair of products.
TEST(Int8, B03SumsAreThoseOfExactIntegers) {
  struct Size {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Size{1, 10, 784}, {7, 33, 1025}, {32, 64, 4096}})
    for (const bool extreme : {false, true}) {
      Array a({DType::i8, {m, k}}), b({DType::i8, {n, k}});
      for (Array* array : {&a, &b})
        for (std::int64_t i = 0; i < array->count(); ++i)
          array->set(i, extreme
                            ? -128
                            : static_cast<double>(
                                  draw(array == &a ? 1 : 2, static_cast<std::uint64_t>(i)) % 256) -
                                  128);
      for (const KernelTable& table : tables_for("matmul_i8"))
        for (const int threads : {1, 2}) {
          contract::OneNode node(ops::matmul_i8, {}, {a, b}, table, threads);
          node.run();
          const Array y = node.outputs()[0];
          for (std::int64_t i = 0; i < m * n; ++i) {
            std::int64_t sum = 0;
            for (std::int64_t p = 0; p < k; ++p)
              sum += std::int64_t{a.as<std::int8_t>()[i / n * k + p]} *
                     b.as<std::int8_t>()[i % n * k + p];
            ASSERT_EQ(y.as<std::int32_t>()[i], sum)
                << m << "×" << n << "×" << k << " by " << node.program().implementation(0);
          }
        }
    }
}

TEST(Int8, B03RowsOfAnyLengthAreQuantisedAsByTheReference) {
  const KernelTable table = cpu_kernels();
  for (const std::int64_t n : {1, 15, 16, 17, 64, 1000}) {
    const Array x = contract::random_array({DType::f32, {3, n}}, 5);
    contract::OneNode node(ops::quantise, {}, {x}, table, 2);
    node.run();
    EXPECT_EQ(node.program().implementation(0), "simd");
    const std::vector<Array> found = node.outputs(),
                             expected = contract::run_reference(ops::quantise, {}, {x});
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_EQ(contract::difference(found[k], expected[k]), 0) << n;
  }
}

TEST(Int8, WhatIsNotFiniteShows) {
  const KernelTable table = cpu_kernels();
  Array x({DType::f32, {2, 40}});
  x.set(39, std::nan(""));
  x.set(70, INFINITY);
  contract::OneNode node(ops::quantise, {}, {x}, table);
  node.run();
  for (const std::int64_t row : {0, 1}) EXPECT_TRUE(std::isnan(node.outputs()[1].get(row)));
}

}  // namespace
}  // namespace tutti
