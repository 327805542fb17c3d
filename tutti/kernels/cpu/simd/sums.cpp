// SPDX-License-Identifier: Apache-2.0
// Leaky ReLU, sums and dot products. Compiled once per instruction set, see loops.cpp.
#include "tutti/kernels/cpu/simd/sums.h"

namespace tutti::cpu::TUTTI_ISA {

void leaky_relu(const float* x, float slope, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : slope * x[i];
}

double leaky_relu_grad(const float* dy, const float* x, float slope, float* dx, std::int64_t n) {
  return sum_of(n, [&](std::int64_t i) {
    const float d = dy[i];
    dx[i] = x[i] > 0 ? d : slope * d;
    return x[i] > 0 ? 0.0f : d * x[i];
  });
}

double sum(const float* x, std::int64_t n) {
  return sum_of(n, [&](std::int64_t i) { return x[i]; });
}

double dot(const float* a, const float* b, std::int64_t n) {
  return sum_of(n, [&](std::int64_t i) { return a[i] * b[i]; });
}

}  // namespace tutti::cpu::TUTTI_ISA
