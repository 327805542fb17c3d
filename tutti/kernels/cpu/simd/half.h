// SPDX-License-Identifier: Apache-2.0
// IEEE half to float and back, rounding to the nearest, ties to even: by the processor's own
// instruction where it has one, else in integers. Included by loops.cpp for each instruction set.
#pragma once

#include "tutti/core/half.h"

#include <cstdint>

#if defined(__F16C__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace tutti::cpu::TUTTI_ISA {

#if defined(__AVX512F__)
// All lanes. The masked forms of instructions are used because GCC 12 warns that the plain forms
// read uninitialised memory.
inline constexpr __mmask16 all16 = 0xffff;
#endif

inline void widen_fp16(const std::uint16_t* x, float* y, std::int64_t n) {
  std::int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    _mm512_storeu_ps(
        y + i,
        _mm512_maskz_cvtph_ps(all16, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i))));
#elif defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(y + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
#endif
#pragma omp simd
  for (std::int64_t k = i; k < n; ++k) y[k] = float_of_half(x[k]);
}

inline void narrow_fp16(const float* x, std::uint16_t* y, std::int64_t n) {
  std::int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(y + i),
        _mm512_maskz_cvtps_ph(all16, _mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#endif
#pragma omp simd
  for (std::int64_t k = i; k < n; ++k) y[k] = half_of_float(x[k]);
}

}  // namespace tutti::cpu::TUTTI_ISA
