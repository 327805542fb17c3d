// SPDX-License-Identifier: Apache-2.0
// im2col (B06) unrolls all patches into one matrix of c·kh·kw rows for each image and multiplies it
// by the kernels; the gradient of the input is the adjoint. The variant `strassen` (B09) is the
// same with Strassen's products.
#include "tutti/kernels/cpu/convolution/columns.h"
#include "tutti/kernels/cpu/convolution/own.h"
#include "tutti/kernels/cpu/convolution/strassen.h"
#include "tutti/kernels/cpu/parallel.h"

#include <algorithm>

namespace tutti::cpu {
namespace {

// The extra memory is exactly the matrix: n·oh·ow × c·kh·kw.
std::int64_t matrix_floats(const Sizes& s) { return s.n * s.pixels() * s.c * s.kernel(); }

// A function that multiplies like product(); `scratch` is used by Strassen's product only.
using Product = void (*)(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                         const Matrix& b, float beta, float* c, std::int64_t c_stride,
                         float* scratch);

void unroll(const Sizes& s, const float* x, float* columns, int threads) {
  const std::int64_t rows = s.kernel() * s.pixels();
  parallel(s.n * s.c, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      to_columns(s, {1, 0, s.pixels()}, x + i * s.image(), columns + i * rows);
  });
}

void roll_up(const Sizes& s, const float* columns, float* x, int threads) {
  const std::int64_t rows = s.kernel() * s.pixels();
  parallel(s.n * s.c, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    std::fill(x + begin * s.image(), x + end * s.image(), 0.0f);
    for (std::int64_t i = begin; i < end; ++i)
      from_columns(s, {1, 0, s.pixels()}, columns + i * rows, x + i * s.image());
  });
}

void run(const Sizes& s, Direction direction, const Operands& all, float* columns, float* scratch,
         int threads, Product multiply) {
  const std::int64_t o = s.group_o(), k = s.patch(), p = s.pixels();
  if (direction != Direction::input) unroll(s, all.x, columns, threads);
  for (std::int64_t i = 0; i < s.n * s.groups; ++i) {
    const std::int64_t group = i % s.groups;
    float *image = columns + i * k * p, *w = all.w + group * o * k, *y = all.y + i * o * p;
    if (direction == Direction::forward)
      multiply(o, p, k, {w, k}, {image, p}, 0, y, p, scratch);
    else if (direction == Direction::input)
      multiply(k, p, o, {w, k, true}, {y, p}, 0, image, p, scratch);
    else
      multiply(o, k, p, {y, p}, {image, p, true}, i < s.groups ? 0.0f : 1.0f, w, k, scratch);
  }
  if (direction == Direction::input) roll_up(s, columns, all.x, threads);
}

bool any_size(const Sizes&, Direction) { return true; }

constexpr OwnMethod im2col{
    .name = "im2col",
    .doc = "all patches as one matrix, then a product; any size",
    .supports = any_size,
    .scratch_floats = [](const Sizes& s, Direction, int) { return matrix_floats(s); },
    .run =
        [](const Sizes& s, Direction direction, const Operands& all, float* scratch, int threads) {
          run(s, direction, all, scratch, nullptr, threads,
              [](std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b,
                 float beta, float* c, std::int64_t c_stride,
                 float*) { product(m, n, k, a, b, beta, c, c_stride); });
        }};

// Below this size one product is faster than seven products of half the size and their additions.
constexpr std::int64_t cutoff = 512;

std::int64_t strassen_floats(const Sizes& s) {
  return strassen_scratch(s.group_o(), s.pixels(), s.patch(), cutoff);
}

constexpr OwnMethod with_strassen{
    .name = "strassen",
    .doc = "im2col with Strassen's products: seven halves instead of eight, down to a cutoff",
    .supports = any_size,
    .scratch_floats = [](const Sizes& s, Direction,
                         int) { return matrix_floats(s) + strassen_floats(s); },
    .run =
        [](const Sizes& s, Direction direction, const Operands& all, float* scratch, int threads) {
          run(s, direction, all, scratch, scratch + matrix_floats(s), threads,
              [](std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b,
                 float beta, float* c, std::int64_t c_stride,
                 float* own) { strassen_product(m, n, k, a, b, beta, c, c_stride, cutoff, own); });
        }};

}  // namespace

ConvolutionVariant im2col_convolution() { return own_convolution<im2col>(); }
ConvolutionVariant strassen_convolution() { return own_convolution<with_strassen>(); }

}  // namespace tutti::cpu
