// SPDX-License-Identifier: Apache-2.0
// Rows of normalisation. Compiled once per instruction set, see loops.cpp.
#include "tutti/kernels/cpu/simd/sample_norm.h"

#include "tutti/kernels/cpu/simd/sums.h"

namespace tutti::cpu::TUTTI_ISA {
namespace {

// Calls visit(first element, count, index of the gain, stride of the gain) on stretches whose
// elements all have one gain (stride 0) or have gains that lie side by side (stride 1).
template <class Visit>
[[gnu::always_inline]] inline void for_each_stretch(const GainedRow& row, const Visit& visit) {
  for (std::int64_t b = 0; b < row.blocks; ++b)
    if (row.lanes == 1)
      visit(b * row.repeats, row.repeats, b, std::int64_t{0});
    else
      for (std::int64_t p = 0; p < row.repeats; ++p)
        visit((b * row.repeats + p) * row.lanes, row.lanes, b * row.lanes, std::int64_t{1});
}

}  // namespace

Moments moments(const float* x, std::int64_t n, bool center, float epsilon) {
  Moments result{0, 1};
  const auto count = static_cast<double>(n);
  if (center) result.mean = static_cast<float>(sum(x, n) / count);
  const float mean = result.mean;
  const double square = sum_of(n, [&](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); });
  result.r = 1.0f / __builtin_sqrtf(static_cast<float>(square / count) + epsilon);
  return result;
}

void sample_norm(const GainedRow& row, const Moments& m, const float* x, const float* gain,
                 const float* shift, float* y) {
  const float mean = m.mean, r = m.r;
  for_each_stretch(row,
                   [&](std::int64_t first, std::int64_t n, std::int64_t c, std::int64_t stride) {
                     const float* in = x + first;
                     float* out = y + first;
                     if (stride == 0 || (gain == nullptr && shift == nullptr)) {
                       const float factor = gain == nullptr ? r : r * gain[c];
                       const float offset = shift == nullptr ? 0.0f : shift[c];
#pragma omp simd
                       for (std::int64_t i = 0; i < n; ++i)
                         out[i] = (in[i] - mean) * factor + offset;
                     } else if (gain != nullptr && shift != nullptr) {
#pragma omp simd
                       for (std::int64_t i = 0; i < n; ++i)
                         out[i] = (in[i] - mean) * (r * gain[c + i]) + shift[c + i];
                     } else if (gain != nullptr) {
#pragma omp simd
                       for (std::int64_t i = 0; i < n; ++i)
                         out[i] = (in[i] - mean) * (r * gain[c + i]);
                     } else {
#pragma omp simd
                       for (std::int64_t i = 0; i < n; ++i)
                         out[i] = (in[i] - mean) * r + shift[c + i];
                     }
                   });
}

void sample_norm_grad(const GainedRow& row, const Moments& m, bool center, const float* dy,
                      const float* x, const float* gain, float* dx, float* dgain, float* dshift) {
  const float mean = m.mean, r = m.r;
  const auto count = static_cast<double>(row.blocks * row.repeats * row.lanes);
  double sum_h = 0, sum_hx = 0;  // Σ h and Σ h x̂, with h = gain · dy
  for_each_stretch(
      row, [&](std::int64_t first, std::int64_t n, std::int64_t c, std::int64_t stride) {
        const float *d = dy + first, *in = x + first;
        if (stride == 0) {
          const double along = sum_of(n, [&](std::int64_t i) { return d[i] * (in[i] - mean) * r; });
          const double plain = sum_of(n, [&](std::int64_t i) { return d[i]; });
          if (dgain != nullptr) dgain[c] += static_cast<float>(along);
          if (dshift != nullptr) dshift[c] += static_cast<float>(plain);
          const double g = gain == nullptr ? 1.0 : static_cast<double>(gain[c]);
          sum_hx += g * along;
          sum_h += g * plain;
          return;
        }
        if (dgain != nullptr) {
#pragma omp simd
          for (std::int64_t i = 0; i < n; ++i) dgain[c + i] += d[i] * (in[i] - mean) * r;
        }
        if (dshift != nullptr) {
#pragma omp simd
          for (std::int64_t i = 0; i < n; ++i) dshift[c + i] += d[i];
        }
        if (gain == nullptr) {
          sum_hx += sum_of(n, [&](std::int64_t i) { return d[i] * (in[i] - mean) * r; });
          sum_h += sum_of(n, [&](std::int64_t i) { return d[i]; });
        } else {
          const float* g = gain + c;
          sum_hx += sum_of(n, [&](std::int64_t i) { return g[i] * d[i] * (in[i] - mean) * r; });
          sum_h += sum_of(n, [&](std::int64_t i) { return g[i] * d[i]; });
        }
      });
  const float mean_h = center ? static_cast<float>(sum_h / count) : 0.0f;
  const float mean_hx = static_cast<float>(sum_hx / count);
  for_each_stretch(row,
                   [&](std::int64_t first, std::int64_t n, std::int64_t c, std::int64_t stride) {
                     const float *d = dy + first, *in = x + first;
                     float* out = dx + first;
                     if (stride == 0 || gain == nullptr) {
                       const float g = gain == nullptr ? 1.0f : gain[c];
#pragma omp simd
                       for (std::int64_t i = 0; i < n; ++i)
                         out[i] = r * (g * d[i] - mean_h - (in[i] - mean) * r * mean_hx);
                     } else {
                       const float* g = gain + c;
#pragma omp simd
                       for (std::int64_t i = 0; i < n; ++i)
                         out[i] = r * (g[i] * d[i] - mean_h - (in[i] - mean) * r * mean_hx);
                     }
                   });
}

}  // namespace tutti::cpu::TUTTI_ISA
