// SPDX-License-Identifier: Apache-2.0
// Softmax and cross-entropy, with an exponential that vectorises. Compiled once per instruction
// set, see loops.cpp.
#include "tutti/kernels/cpu/simd/softmax.h"

namespace tutti::cpu::TUTTI_ISA {
namespace {

// exp(x) for x ≤ 0, good to 2e-7: 2^n · exp(r) with |r| ≤ ln 2 / 2, and 0 for x below the range of
// floats.
[[gnu::always_inline]] inline float exp_of(float x) {
  constexpr float to_integer = 12582912.0f;  // 1.5 · 2^23: adding it rounds
  const float bounded = x < -87.0f ? -87.0f : x;
  const float n = (bounded * 1.44269504f + to_integer) - to_integer;
  const float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const auto power = __builtin_bit_cast(float, (static_cast<std::int32_t>(n) + 127) << 23);
  return x < -87.0f ? 0.0f : p * power;
}

[[gnu::always_inline]] inline float largest_of(const float* x, std::int64_t n) {
  float largest = x[0];
#pragma omp simd reduction(max : largest)
  for (std::int64_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

// y = exp(x - largest); returns the sum.
[[gnu::always_inline]] inline float exponentials(const float* x, float largest, float* y,
                                                 std::int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) {
    const float e = exp_of(x[i] - largest);
    y[i] = e;
    sum += e;
  }
  return sum;
}

void softmax_row(const float* x, float* y, std::int64_t n) {
  const float factor = 1.0f / exponentials(x, largest_of(x, n), y, n);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] *= factor;
}

void softmax_grad_row(const float* dy, const float* y, float* dx, std::int64_t n) {
  float mean = 0;
#pragma omp simd reduction(+ : mean)
  for (std::int64_t i = 0; i < n; ++i) mean += dy[i] * y[i];
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - mean);
}

constexpr std::int64_t width = 16;  // lines side by side

}  // namespace

void softmax(const SoftmaxLines& l, const float* x, float* y) {
  if (l.stride == 1) return softmax_row(x, y, l.extent);
  for (std::int64_t first = 0; first < l.lines; first += width) {
    const std::int64_t n = l.lines - first < width ? l.lines - first : width;
    float largest[width] = {}, sum[width] = {};
    for (std::int64_t i = 0; i < n; ++i) largest[i] = x[first + i];
    for (std::int64_t k = 1; k < l.extent; ++k) {
      const float* in = x + k * l.stride + first;
      for (std::int64_t i = 0; i < n; ++i) largest[i] = in[i] > largest[i] ? in[i] : largest[i];
    }
    for (std::int64_t k = 0; k < l.extent; ++k) {
      const float* in = x + k * l.stride + first;
      float* out = y + k * l.stride + first;
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) {
        const float e = exp_of(in[i] - largest[i]);
        out[i] = e;
        sum[i] += e;
      }
    }
    for (std::int64_t i = 0; i < n; ++i) sum[i] = 1.0f / sum[i];
    for (std::int64_t k = 0; k < l.extent; ++k) {
      float* out = y + k * l.stride + first;
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) out[i] *= sum[i];
    }
  }
}

void softmax_grad(const SoftmaxLines& l, const float* dy, const float* y, float* dx) {
  if (l.stride == 1) return softmax_grad_row(dy, y, dx, l.extent);
  for (std::int64_t first = 0; first < l.lines; first += width) {
    const std::int64_t n = l.lines - first < width ? l.lines - first : width;
    float mean[width] = {};
    for (std::int64_t k = 0; k < l.extent; ++k) {
      const std::int64_t at = k * l.stride + first;
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) mean[i] += dy[at + i] * y[at + i];
    }
    for (std::int64_t k = 0; k < l.extent; ++k) {
      const std::int64_t at = k * l.stride + first;
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) dx[at + i] = y[at + i] * (dy[at + i] - mean[i]);
    }
  }
}

double cross_entropy(const float* z, std::int64_t classes, std::int64_t label, double smoothing) {
  const float largest = largest_of(z, classes);
  float sum = 0, total = 0;
#pragma omp simd reduction(+ : sum, total)
  for (std::int64_t c = 0; c < classes; ++c) {
    sum += exp_of(z[c] - largest);
    total += z[c] - largest;
  }
  const double target = (1 - smoothing) * static_cast<double>(z[label] - largest) +
                        smoothing * static_cast<double>(total) / static_cast<double>(classes);
  return __builtin_log(static_cast<double>(sum)) - target;
}

void cross_entropy_grad(const float* z, std::int64_t classes, std::int64_t label, double smoothing,
                        float factor, float* dz) {
  const float scale = factor / exponentials(z, largest_of(z, classes), dz, classes);
  const float spread = factor * static_cast<float>(smoothing / static_cast<double>(classes));
#pragma omp simd
  for (std::int64_t c = 0; c < classes; ++c) dz[c] = scale * dz[c] - spread;
  dz[label] -= factor * static_cast<float>(1 - smoothing);
}

}  // namespace tutti::cpu::TUTTI_ISA
