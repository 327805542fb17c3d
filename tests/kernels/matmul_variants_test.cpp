// SPDX-License-Identifier: Apache-2.0
// Every way to compute a matrix product against the definition.
#include "tutti/kernels/backends.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/ops/matmul.h"

#include "contract/interpreter.h"
#include "contract/one_node.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <string_view>

namespace tutti::cpu {
namespace {

using contract::Array;

struct Product {
  std::int64_t rows, inner, columns;
  bool transpose_a = false, transpose_b = false;
  const char* activation = "none";
  bool bias = false;
};

std::vector<Array> inputs_of(const Product& p) {
  const auto matrix = [](std::int64_t rows, std::int64_t columns, bool transposed,
                         std::uint64_t seed) {
    const Shape shape = transposed ? Shape{columns, rows} : Shape{rows, columns};
    return contract::random_array({DType::f32, shape}, seed);
  };
  std::vector<Array> in = {matrix(p.rows, p.inner, p.transpose_a, 1),
                           matrix(p.inner, p.columns, p.transpose_b, 2)};
  if (p.bias) in.push_back(contract::random_array({DType::f32, {p.columns}}, 3));
  return in;
}

// Which implementations computed the product, each on 1 and 2 threads and as defined.
std::vector<std::string> computed_by(const Product& p) {
  const Settings settings = resolve(ops::matmul.settings,
                                    {{"transpose_a", p.transpose_a},
                                     {"transpose_b", p.transpose_b},
                                     {"activation", std::string(p.activation)}},
                                    "");
  const std::vector<Array> in = inputs_of(p);
  const Array expected = contract::run_reference(ops::matmul, settings, in)[0];
  std::vector<std::string> names;
  const KernelTable all = cpu_kernels();
  for (const Implementation& one : all.by_op.at("matmul")) {
    KernelTable only = cpu_kernels();
    only.by_op["matmul"] = {one};
    for (const int threads : {1, 2}) {
      contract::OneNode run(ops::matmul, settings, in, only, threads);
      if (run.program().implementation(run.step()) != one.name) continue;
      run.run();
      EXPECT_LE(contract::difference(run.outputs()[0], expected), 1e-5)
          << one.name << ", " << threads << " threads: " << p.rows << "×" << p.inner << "×"
          << p.columns;
      names.push_back(one.name);
    }
  }
  return names;
}

bool has(const std::vector<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_avx512() { return loops().name == std::string_view("avx512"); }

// B02: forward, with what follows the sum; columns that fill no vector too.
TEST(MatmulVariants, B02FewRowsTimesWeightsTransposed) {
  for (const std::int64_t rows : {32, 48, 64})
    for (const std::int64_t columns : {128, 203, 1000})
      for (const char* activation : {"none", "relu"})
        for (const bool bias : {false, true}) {
          const Product product{.rows = rows,
                                .inner = 150,
                                .columns = columns,
                                .transpose_b = true,
                                .activation = activation,
                                .bias = bias};
          EXPECT_EQ(has(computed_by(product), "onednn-turned"), has_avx512());
        }
  // What it is not for.
  for (const Product& other :
       {Product{.rows = 33, .inner = 150, .columns = 128, .transpose_b = true},
        Product{.rows = 80, .inner = 150, .columns = 128, .transpose_b = true},
        Product{.rows = 64, .inner = 150, .columns = 8, .transpose_b = true},
        Product{.rows = 64, .inner = 150, .columns = 128},
        Product{
            .rows = 64, .inner = 150, .columns = 128, .transpose_b = true, .activation = "tanh"}})
    EXPECT_FALSE(has(computed_by(other), "onednn-turned"));
}

// B02: the gradient of few rows.
TEST(MatmulVariants, B02FewRowsTimesWeights) {
  for (const std::int64_t rows : {16, 33, 64})
    EXPECT_EQ(has(computed_by({.rows = rows, .inner = 512, .columns = 1027}), "onednn-gemm"),
              has_avx512());
  for (const Product& other : {Product{.rows = 65, .inner = 512, .columns = 1027},
                               Product{.rows = 64, .inner = 512, .columns = 100},
                               Product{.rows = 64, .inner = 512, .columns = 1027, .bias = true}})
    EXPECT_FALSE(has(computed_by(other), "onednn-gemm"));
}

// B02: the gradient of weights, cut by rows over threads.
TEST(MatmulVariants, B02WeightGradientsByRows) {
  const int threads = omp_get_max_threads();
  for (const bool transpose_b : {false, true})
    EXPECT_EQ(has(computed_by({.rows = 128 * threads,
                               .inner = 24,
                               .columns = 130,
                               .transpose_a = true,
                               .transpose_b = transpose_b}),
                  "onednn-rows"),
              threads > 1);
  EXPECT_FALSE(has(computed_by({.rows = 127, .inner = 24, .columns = 130, .transpose_a = true}),
                   "onednn-rows"));
}

}  // namespace
}  // namespace tutti::cpu
