// SPDX-License-Identifier: Apache-2.0
// Compiled several times, each with the flags of one instruction set and TUTTI_ISA as its name. Only
// functions of this namespace and always-inlined ones may appear here: the linker keeps one copy of
// every other inline function, perhaps the one this processor can't run.
#include "tutti/kernels/cpu/loops.h"
#include "tutti/core/rng.h"
#include "tutti/optim/functors.h"
#include "tutti/optim/loop.h"

namespace tutti::cpu::TUTTI_ISA {
namespace {

void relu(const float* x, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0.0f;
}

void relu_grad(const float* dy, const float* y, float* dx, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) dx[i] = y[i] > 0 ? dy[i] : 0.0f;
}

void tanh_grad(const float* dy, const float* y, float* dx, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] * (1.0f - y[i] * y[i]);
}

void sigmoid_grad(const float* dy, const float* y, float* dx, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] * (y[i] * (1.0f - y[i]));
}

void add(const float* a, const float* b, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}

void multiply(const float* a, const float* b, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] * b[i];
}

void scale(const float* x, float factor, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * factor;
}

void add_row(const float* x, const float* b, float* y, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r) add(x + r * columns, b, y + r * columns, columns);
}

void sum_rows(const float* x, float* b, std::int64_t rows, std::int64_t columns,
              std::int64_t stride) {
  constexpr std::int64_t strip = 64;  // columns kept in registers while the rows pass
  for (std::int64_t c = 0; c < columns; c += strip) {
    const std::int64_t width = columns - c < strip ? columns - c : strip;
    float sum[strip] = {};
    if (width == strip) {
      for (std::int64_t r = 0; r < rows; ++r) {
        const float* row = x + r * stride + c;
#pragma omp simd
        for (std::int64_t i = 0; i < strip; ++i) sum[i] += row[i];
      }
    } else {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < width; ++i) sum[i] += x[r * stride + c + i];
    }
    for (std::int64_t i = 0; i < width; ++i) b[c + i] = sum[i];
  }
}

void dropout(const float* x, float* y, std::int64_t n, std::uint64_t key, std::uint64_t first,
             std::uint32_t threshold, float factor) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const auto top =
        static_cast<std::uint32_t>(draw(key, first + static_cast<std::uint64_t>(i)) >> 32);
    y[i] = top >= threshold ? x[i] * factor : 0.0f;
  }
}

// Thirty-two chains, added in a fixed order, so the sum does not depend on the vector width.
double square_sum(const float* x, std::int64_t n) {
  constexpr int lanes = 32;
  double sum[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
#pragma omp simd
    for (int k = 0; k < lanes; ++k)
      sum[k] += static_cast<double>(x[i + k]) * static_cast<double>(x[i + k]);
  }
  for (; i < n; ++i) sum[0] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  double total = 0;
  for (double part : sum) total += part;
  return total;
}

template <class Functor>
void update(float* w, const float* g, void* const* states, std::int64_t begin, std::int64_t end,
            const Hyper& hyper) {
  update_loop<Functor, float>(w, g, states, begin, end, hyper);
}

template <class... F>
constexpr int size_of(FunctorList<F...>) {
  return sizeof...(F);
}

template <class List>
struct Updates;
template <class... F>
struct Updates<FunctorList<F...>> {
  static constexpr NamedUpdate table[] = {{F::name, update<F>}...};
};

}  // namespace

extern const Loops loops;
const Loops loops{.name = TUTTI_ISA_NAME,
                  .relu = relu,
                  .relu_grad = relu_grad,
                  .tanh_grad = tanh_grad,
                  .sigmoid_grad = sigmoid_grad,
                  .add = add,
                  .multiply = multiply,
                  .scale = scale,
                  .add_row = add_row,
                  .sum_rows = sum_rows,
                  .dropout = dropout,
                  .square_sum = square_sum,
                  .updates = Updates<Functors>::table,
                  .update_count = size_of(Functors{})};

}  // namespace tutti::cpu::TUTTI_ISA
