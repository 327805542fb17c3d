// SPDX-License-Identifier: Apache-2.0
// Losses of regression. Compiled once per instruction set, see loops.cpp.
#include "tutti/kernels/cpu/simd/losses.h"

#include "tutti/kernels/cpu/simd/sums.h"

namespace tutti::cpu::TUTTI_ISA {
double squared_error(const float* p, const float* t, std::int64_t n) {
  return sum_of(n, [&](std::int64_t i) { return (p[i] - t[i]) * (p[i] - t[i]); });
}

double huber(const float* p, const float* t, float delta, std::int64_t n) {
  return sum_of(n, [&](std::int64_t i) {
    const float e = __builtin_fabsf(p[i] - t[i]);
    return e <= delta ? 0.5f * e * e : delta * (e - 0.5f * delta);
  });
}

void clipped_difference(const float* p, const float* t, float delta, float factor, float* y,
                        std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float e = p[i] - t[i];
    const float below = e < delta ? e : delta;
    y[i] = factor * (below > -delta ? below : -delta);
  }
}

}  // namespace tutti::cpu::TUTTI_ISA
