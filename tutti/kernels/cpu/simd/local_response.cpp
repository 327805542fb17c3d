// SPDX-License-Identifier: Apache-2.0
// Local response normalisation with β = 0.75, vectors running over pixels. Compiled once per
// instruction set, see loops.cpp.
#include "tutti/kernels/cpu/simd/local_response.h"

namespace tutti::cpu::TUTTI_ISA {
namespace {

constexpr std::int64_t width = 64;  // pixels at a time

// Calls visit(first pixel, number of pixels) on strips of at most `width` pixels.
template <class Visit>
[[gnu::always_inline]] inline void for_each_strip(std::int64_t pixels, const Visit& visit) {
  for (std::int64_t p = 0; p < pixels; p += width)
    visit(p, pixels - p < width ? pixels - p : width);
}

// sum[i] = Σ term(channel, pixel i) over the window around channel c.
template <class Term>
[[gnu::always_inline]] inline void sum_around(const ResponseSlab& s, std::int64_t c, std::int64_t n,
                                              float* sum, const Term& term) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] = 0;
  const std::int64_t first = c - s.reach > 0 ? c - s.reach : 0;
  const std::int64_t last = c + s.reach < s.channels - 1 ? c + s.reach : s.channels - 1;
  for (std::int64_t k = first; k <= last; ++k) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) sum[i] += term(k, i);
  }
}

// b^-0.75
[[gnu::always_inline]] inline float power(float b) {
  const float root = __builtin_sqrtf(b);
  return 1.0f / (root * __builtin_sqrtf(root));
}

}  // namespace

void local_response(const ResponseSlab& s, const float* x, float* y) {
  for_each_strip(s.pixels, [&](std::int64_t p, std::int64_t n) {
    float sum[width];
    for (std::int64_t c = 0; c < s.channels; ++c) {
      sum_around(s, c, n, sum, [&](std::int64_t k, std::int64_t i) {
        const float value = x[k * s.pixels + p + i];
        return value * value;
      });
      const float* in = x + c * s.pixels + p;
      float* out = y + c * s.pixels + p;
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] * power(s.k + s.alpha * sum[i]);
    }
  });
}

// First dx = dy b^-β and terms = dy x b^(-β-1), then dx gets the gradient that reaches x through
// the sums of squares.
void local_response_grad(const ResponseSlab& s, const float* dy, const float* x, float* terms,
                         float* dx) {
  const float factor = 2.0f * s.alpha * 0.75f;
  for_each_strip(s.pixels, [&](std::int64_t p, std::int64_t n) {
    float sum[width];
    for (std::int64_t c = 0; c < s.channels; ++c) {
      sum_around(s, c, n, sum, [&](std::int64_t k, std::int64_t i) {
        const float value = x[k * s.pixels + p + i];
        return value * value;
      });
      const std::int64_t at = c * s.pixels + p;
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) {
        const float b = s.k + s.alpha * sum[i], direct = dy[at + i] * power(b);
        dx[at + i] = direct;
        terms[at + i] = direct * x[at + i] / b;
      }
    }
    for (std::int64_t c = 0; c < s.channels; ++c) {
      sum_around(s, c, n, sum,
                 [&](std::int64_t k, std::int64_t i) { return terms[k * s.pixels + p + i]; });
      const std::int64_t at = c * s.pixels + p;
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) dx[at + i] -= factor * x[at + i] * sum[i];
    }
  });
}

}  // namespace tutti::cpu::TUTTI_ISA
