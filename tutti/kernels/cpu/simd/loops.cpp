// SPDX-License-Identifier: Apache-2.0
// The vector loops of loops.h. Compiled several times, each time with the flags of one instruction
// set and TUTTI_ISA as its name. Only functions of this namespace and always-inlined ones may
// appear here: the linker keeps one copy of every other inline function, perhaps one that this
// processor can't run.
#include "tutti/kernels/cpu/loops.h"

#include "tutti/core/rng.h"
#include "tutti/kernels/cpu/simd/half.h"
#include "tutti/kernels/cpu/simd/local_response.h"
#include "tutti/kernels/cpu/simd/losses.h"
#include "tutti/kernels/cpu/simd/pairs.h"
#include "tutti/kernels/cpu/simd/quantise.h"
#include "tutti/kernels/cpu/simd/sample_norm.h"
#include "tutti/kernels/cpu/simd/softmax.h"
#include "tutti/kernels/cpu/simd/sums.h"
#include "tutti/kernels/cpu/simd/turn.h"
#include "tutti/optim/functors.h"
#include "tutti/optim/loop.h"

#include <limits>
#include <utility>

namespace tutti::cpu::TUTTI_ISA {
namespace {

template <std::int64_t n>
struct Constant {
  constexpr operator std::int64_t() const { return n; }
};

void widen_bf16(const std::uint16_t* x, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = __builtin_bit_cast(float, static_cast<std::uint32_t>(x[i]) << 16);
}

void narrow_bf16(const float* x, std::uint16_t* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const auto bits = __builtin_bit_cast(std::uint32_t, x[i]);
    const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    // Rounding would turn some NaNs into infinity.
    const std::uint32_t quiet = (bits >> 16) | 0x40;
    y[i] = static_cast<std::uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
  }
}

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
  constexpr std::int64_t strip = 64;  // columns whose sums are kept in registers for all rows
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

// Calls visit(first, count) on runs of at most 16 channels with a count the compiler knows.
template <class Visit, std::int64_t... n>
[[gnu::always_inline]] inline void for_channels(std::int64_t channels, const Visit& visit,
                                                std::integer_sequence<std::int64_t, n...>) {
  std::int64_t c = 0;
  for (; c + 16 <= channels; c += 16) visit(c, Constant<16>{});
  const std::int64_t rest = channels - c;
  ((rest == n && n > 0 ? visit(c, Constant<n>{}) : void()), ...);
}
using Remainders = std::make_integer_sequence<std::int64_t, 16>;

// The part of a window that lies inside the image: positions [begin, end) of the kernel.
struct Inside {
  std::int64_t begin, end;
};
[[gnu::always_inline]] inline Inside inside(std::int64_t start, std::int64_t kernel,
                                            std::int64_t extent) {
  const std::int64_t begin = start < 0 ? -start : 0;
  const std::int64_t end = start + kernel > extent ? extent - start : kernel;
  return {begin, end};
}

void max_pool(const PoolPlane& p, const float* x, float* y, std::uint8_t* index) {
  if (p.channels == 1) return max_pool_pairs(p, x, y, index);
  for (std::int64_t oh = 0; oh < p.out_height; ++oh)
    for (std::int64_t ow = 0; ow < p.out_width; ++ow, y += p.channels, index += p.channels) {
      const std::int64_t h = oh * p.stride_h - p.padding_h, w = ow * p.stride_w - p.padding_w;
      const Inside rows = inside(h, p.kernel_h, p.height), columns = inside(w, p.kernel_w, p.width);
      const auto pool = [&](std::int64_t c, auto count) {
        float best[16];
        std::int32_t where[16];
        for (int i = 0; i < 16; ++i)
          best[i] = -std::numeric_limits<float>::infinity(), where[i] = -1;
        for (std::int64_t kh = rows.begin; kh < rows.end; ++kh)
          for (std::int64_t kw = columns.begin; kw < columns.end; ++kw) {
            const float* __restrict from = x + ((h + kh) * p.width + w + kw) * p.channels + c;
            const auto position = static_cast<std::int32_t>(kh * p.kernel_w + kw);
#pragma omp simd
            for (std::int64_t i = 0; i < count; ++i) {
              const bool larger = from[i] > best[i] || where[i] < 0;
              best[i] = larger ? from[i] : best[i];
              where[i] = larger ? position : where[i];
            }
          }
        for (std::int64_t i = 0; i < count; ++i) y[c + i] = best[i];
        for (std::int64_t i = 0; i < count; ++i) index[c + i] = static_cast<std::uint8_t>(where[i]);
      };
      for_channels(p.channels, pool, Remainders{});
    }
}

void max_pool_grad(const PoolPlane& p, const float* dy, const std::uint8_t* index, float* dx) {
  if (p.channels == 1) return max_pool_pairs_grad(p, dy, index, dx);
  // Windows that tile the image write every element once; others add to zeros.
  const bool tiles = p.kernel_h == p.stride_h && p.kernel_w == p.stride_w && p.padding_h == 0 &&
                     p.padding_w == 0 && p.out_height * p.stride_h == p.height &&
                     p.out_width * p.stride_w == p.width;
  if (!tiles)
    for (std::int64_t i = 0; i < p.height * p.width * p.channels; ++i) dx[i] = 0;
  for (std::int64_t oh = 0; oh < p.out_height; ++oh)
    for (std::int64_t ow = 0; ow < p.out_width; ++ow, dy += p.channels, index += p.channels) {
      const std::int64_t h = oh * p.stride_h - p.padding_h, w = ow * p.stride_w - p.padding_w;
      const Inside rows = inside(h, p.kernel_h, p.height), columns = inside(w, p.kernel_w, p.width);
      const auto spread = [&](std::int64_t c, auto count) {
        float gradient[16];
        std::int32_t where[16];
        for (std::int64_t i = 0; i < count; ++i) gradient[i] = dy[c + i], where[i] = index[c + i];
        for (std::int64_t kh = rows.begin; kh < rows.end; ++kh)
          for (std::int64_t kw = columns.begin; kw < columns.end; ++kw) {
            float* __restrict to = dx + ((h + kh) * p.width + w + kw) * p.channels + c;
            const auto position = static_cast<std::int32_t>(kh * p.kernel_w + kw);
#pragma omp simd
            for (std::int64_t i = 0; i < count; ++i) {
              const float before = tiles ? 0.0f : to[i];
              to[i] = before + (where[i] == position ? gradient[i] : 0.0f);
            }
          }
      };
      for_channels(p.channels, spread, Remainders{});
    }
}

// Rows of 16 channels and of one channel get vectors of a known length; in the latter the lanes are
// positions.
constexpr std::int64_t lanes = 16;

// Explicit vectors of eight elements: the compiler does not vectorise sums of several channels by
// itself.
using Floats = float __attribute__((vector_size(32), aligned(4), may_alias));
using Doubles = double __attribute__((vector_size(64)));
constexpr std::int64_t half = 8, halves = lanes / half;

[[gnu::always_inline]] inline const Floats& eight(const float* x) {
  return *reinterpret_cast<const Floats*>(x);
}

// Σd and Σd·(x − mean) of one channel, or of 16 that lie side by side; where `relu`, d is dy where
// (x − mean) · scale + shift is positive. Without dy, d is x.
template <bool single, bool relu, bool with_dy>
void sum_lanes(const float* dy, const float* x, std::int64_t count, const float* mean,
               const float* scale, const float* shift, double* s1, double* s2) {
  Doubles a[halves] = {}, b[halves] = {};
  Floats m[halves] = {}, factor[halves] = {}, term[halves] = {};
  if (with_dy)
    for (std::int64_t k = 0; k < lanes; ++k) {
      const std::int64_t c = single ? 0 : k;
      m[k / half][k % half] = mean[c];
      factor[k / half][k % half] = scale[c];
      term[k / half][k % half] = shift[c];
    }
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::int64_t h = 0; h < halves; ++h) {
      const Floats centred = eight(x + i + h * half) - m[h];
      Floats d = with_dy ? eight(dy + i + h * half) : centred;
      if (relu) d = centred * factor[h] + term[h] > 0 ? d : Floats{};
      const Doubles wide = __builtin_convertvector(d, Doubles);
      a[h] += wide;
      b[h] += wide * __builtin_convertvector(centred, Doubles);
    }
  for (; i < count; ++i) {
    const std::int64_t h = i % lanes / half, k = i % half;
    const float centred = x[i] - m[h][k];
    float d = with_dy ? dy[i] : centred;
    if (relu && !(centred * factor[h][k] + term[h][k] > 0)) d = 0;
    a[h][k] += static_cast<double>(d);
    b[h][k] += static_cast<double>(d) * static_cast<double>(centred);
  }
  for (std::int64_t k = 0; k < lanes; ++k) {
    s1[single ? 0 : k] += a[k / half][k % half];
    s2[single ? 0 : k] += b[k / half][k % half];
  }
}

template <bool relu>
void sum_gradients(const float* dy, const float* x, std::int64_t rows, std::int64_t width,
                   const float* mean, const float* scale, const float* shift, double* s1,
                   double* s2) {
  if (width == 1) return sum_lanes<true, relu, true>(dy, x, rows, mean, scale, shift, s1, s2);
  if (width == lanes)
    return sum_lanes<false, relu, true>(dy, x, rows * lanes, mean, scale, shift, s1, s2);
  for (std::int64_t r = 0; r < rows; ++r, dy += width, x += width) {
#pragma omp simd
    for (std::int64_t c = 0; c < width; ++c) {
      const float centred = x[c] - mean[c], gradient = dy[c];
      const float d = !relu || centred * scale[c] + shift[c] > 0 ? gradient : 0.0f;
      s1[c] += static_cast<double>(d);
      s2[c] += static_cast<double>(d) * static_cast<double>(centred);
    }
  }
}

void normalise_sums(const float* dy, const float* x, std::int64_t rows, std::int64_t width,
                    const float* mean, const float* scale, const float* shift, bool relu,
                    double* s1, double* s2) {
  (relu ? sum_gradients<true> : sum_gradients<false>)(dy, x, rows, width, mean, scale, shift, s1,
                                                      s2);
}

void channel_sums(const float* x, std::int64_t rows, std::int64_t width, double* s1, double* s2) {
  if (width == 1)
    return sum_lanes<true, false, false>(nullptr, x, rows, nullptr, nullptr, nullptr, s1, s2);
  if (width == lanes)
    return sum_lanes<false, false, false>(nullptr, x, rows * lanes, nullptr, nullptr, nullptr, s1,
                                          s2);
  for (std::int64_t r = 0; r < rows; ++r, x += width) {
#pragma omp simd
    for (std::int64_t c = 0; c < width; ++c) {
      const auto value = static_cast<double>(x[c]);
      s1[c] += value;
      s2[c] += value * value;
    }
  }
}

// Calls body(element, channel) for all elements.
template <class Body>
[[gnu::always_inline]] inline void map_channels(std::int64_t rows, std::int64_t width,
                                                const Body& body) {
  if (width == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < rows; ++i) body(i, 0);
  } else if (width == lanes) {
    for (std::int64_t r = 0; r < rows; ++r) {
#pragma omp simd
      for (std::int64_t c = 0; c < lanes; ++c) body(r * lanes + c, c);
    }
  } else {
    for (std::int64_t r = 0; r < rows; ++r) {
#pragma omp simd
      for (std::int64_t c = 0; c < width; ++c) body(r * width + c, c);
    }
  }
}

template <bool relu, bool with_residual>
void normalise_rows(const float* x, const float* residual, float* y, std::int64_t rows,
                    std::int64_t width, const float* mean, const float* scale, const float* shift) {
  map_channels(
      rows, width, [&](std::int64_t i, std::int64_t c) __attribute__((always_inline)) {
        float value = (x[i] - mean[c]) * scale[c] + shift[c];
        if (with_residual) value += residual[i];
        y[i] = !relu || value > 0 ? value : 0.0f;
      });
}

void normalise(const float* x, const float* residual, float* y, std::int64_t rows,
               std::int64_t width, const float* mean, const float* scale, const float* shift,
               bool relu) {
  const auto loop = residual != nullptr
                        ? (relu ? normalise_rows<true, true> : normalise_rows<false, true>)
                        : (relu ? normalise_rows<true, false> : normalise_rows<false, false>);
  loop(x, residual, y, rows, width, mean, scale, shift);
}

template <bool relu>
void normalise_grad_rows(const float* dy, const float* x, float* dx, std::int64_t rows,
                         std::int64_t width, const float* mean, std::int64_t stride) {
  const float *scale = mean + stride, *shift = scale + stride;
  const float *slope = shift + stride, *offset = slope + stride;
  map_channels(
      rows, width, [&](std::int64_t i, std::int64_t c) __attribute__((always_inline)) {
        const float centred = x[i] - mean[c];
        const float d = !relu || centred * scale[c] + shift[c] > 0 ? dy[i] : 0.0f;
        dx[i] = scale[c] * d + slope[c] * centred + offset[c];
      });
}

void normalise_grad(const float* dy, const float* x, float* dx, std::int64_t rows,
                    std::int64_t width, const float* factors, std::int64_t stride, bool relu) {
  (relu ? normalise_grad_rows<true> : normalise_grad_rows<false>)(dy, x, dx, rows, width, factors,
                                                                  stride);
}

// Thirty-two partial sums, added in a fixed order, so the sum does not depend on the vector width.
double square_sum(const float* x, std::int64_t n) {
  constexpr int chains = 32;
  double sum[chains] = {};
  std::int64_t i = 0;
  for (; i + chains <= n; i += chains) {
#pragma omp simd
    for (int k = 0; k < chains; ++k)
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

template <class Functor>
void measure(const float* w, const float* g, void* const* states, std::int64_t begin,
             std::int64_t end, const Hyper& hyper, double* squares) {
  measure_loop<Functor, float>(w, g, states, begin, end, hyper, squares);
}

template <class Functor>
constexpr MeasureLoop measure_of() {
  if constexpr (has_direction<Functor>) return measure<Functor>;
  return nullptr;
}

template <class... F>
constexpr int size_of(FunctorList<F...>) {
  return sizeof...(F);
}

template <class List>
struct Updates;
template <class... F>
struct Updates<FunctorList<F...>> {
  static constexpr NamedUpdate table[] = {{F::name, update<F>, measure_of<F>()}...};
};

}  // namespace

extern const RowLoops row_loops;
extern const Loops loops;
const Loops loops{.name = TUTTI_ISA_NAME,
                  .widen_bf16 = widen_bf16,
                  .narrow_bf16 = narrow_bf16,
                  .widen_fp16 = widen_fp16,
                  .narrow_fp16 = narrow_fp16,
                  .relu = relu,
                  .relu_grad = relu_grad,
                  .tanh_grad = tanh_grad,
                  .sigmoid_grad = sigmoid_grad,
                  .add = add,
                  .multiply = multiply,
                  .scale = scale,
                  .add_row = add_row,
                  .sum_rows = sum_rows,
                  .turn = turn,
                  .dropout = dropout,
                  .max_pool = max_pool,
                  .max_pool_grad = max_pool_grad,
                  .channel_sums = channel_sums,
                  .normalise_sums = normalise_sums,
                  .normalise = normalise,
                  .normalise_grad = normalise_grad,
                  .leaky_relu = leaky_relu,
                  .leaky_relu_grad = leaky_relu_grad,
                  .sum = sum,
                  .dot = dot,
                  .moments = moments,
                  .sample_norm = sample_norm,
                  .sample_norm_grad = sample_norm_grad,
                  .softmax = softmax,
                  .softmax_grad = softmax_grad,
                  .cross_entropy = cross_entropy,
                  .cross_entropy_grad = cross_entropy_grad,
                  .local_response = local_response,
                  .local_response_grad = local_response_grad,
                  .quantise = quantise,
                  .dot_i8 = dot_i8,
                  .dequantise = dequantise,
                  .squared_error = squared_error,
                  .huber = huber,
                  .clipped_difference = clipped_difference,
                  .square_sum = square_sum,
                  .rows = &row_loops,
                  .updates = Updates<Functors>::table,
                  .update_count = size_of(Functors{})};

}  // namespace tutti::cpu::TUTTI_ISA
