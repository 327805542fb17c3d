// SPDX-License-Identifier: Apache-2.0
// Sums: in float within stretches of 1024 elements, which vectorises, and in double from stretch to
// stretch.
#pragma once

#include "tutti/kernels/cpu/loops.h"

namespace tutti::cpu::TUTTI_ISA {

// Σ term(i) over [0, n).
template <class Term>
[[gnu::always_inline]] inline double sum_of(std::int64_t n, const Term& term) {
  constexpr std::int64_t stretch = 1024;
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += stretch) {
    const std::int64_t end = begin + stretch < n ? begin + stretch : n;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = begin; i < end; ++i) sum += term(i);
    total += static_cast<double>(sum);
  }
  return total;
}

void leaky_relu(const float* x, float slope, float* y, std::int64_t n);
double leaky_relu_grad(const float* dy, const float* x, float slope, float* dx, std::int64_t n);
double sum(const float* x, std::int64_t n);
double dot(const float* a, const float* b, std::int64_t n);

}  // namespace tutti::cpu::TUTTI_ISA
