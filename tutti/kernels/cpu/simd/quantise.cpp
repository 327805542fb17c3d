// SPDX-License-Identifier: Apache-2.0
// Rows of 8-bit integers. Compiled once per instruction set, see loops.cpp.
#include "tutti/kernels/cpu/simd/quantise.h"

#include <limits>

namespace tutti::cpu::TUTTI_ISA {

float quantise(const float* x, std::int8_t* q, std::int64_t n) {
  float largest = 0;
  std::int32_t finite = 1;
#pragma omp simd reduction(max : largest) reduction(& : finite)
  for (std::int64_t i = 0; i < n; ++i) {
    const float magnitude = x[i] < 0 ? -x[i] : x[i];
    largest = magnitude > largest ? magnitude : largest;
    finite &= magnitude <= std::numeric_limits<float>::max() ? 1 : 0;
  }
  constexpr float to_integer = 12582912.0f;  // 1.5 · 2^23: adding it rounds, ties to even
  const float factor = largest > 0 ? 127 / largest : 0;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float rounded = (x[i] * factor + to_integer) - to_integer;
    const float bounded = rounded < 127 ? (rounded > -127 ? rounded : -127) : 127;
    q[i] = static_cast<std::int8_t>(static_cast<std::int32_t>(bounded));
  }
  return finite != 0 ? largest / 127 : std::numeric_limits<float>::quiet_NaN();
}

std::int32_t dot_i8(const std::int8_t* a, const std::int8_t* b, std::int64_t n) {
  std::int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void dequantise(const DequantisedRow& row, const std::int32_t* sums, const float* residual,
                float* y) {
  const auto write = [&](const auto& added) {
#pragma omp simd
    for (std::int64_t j = 0; j < row.n; ++j) {
      const float value =
          static_cast<float>(sums[j]) * (row.scale * row.column_scale[j]) + added(j);
      y[j] = value > 0 ? value : row.slope * value;
    }
  };
  if (row.bias != nullptr && residual != nullptr)
    write([&](std::int64_t j) { return row.bias[j] + residual[j]; });
  else if (row.bias != nullptr)
    write([&](std::int64_t j) { return row.bias[j]; });
  else if (residual != nullptr)
    write([&](std::int64_t j) { return residual[j]; });
  else
    write([](std::int64_t) { return 0.0f; });
}

}  // namespace tutti::cpu::TUTTI_ISA
