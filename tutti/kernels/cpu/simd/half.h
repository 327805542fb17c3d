// SPDX-License-Identifier: Apache-2.0
// IEEE half to float and back, rounding to the nearest, ties to even: by the processor's own
// instruction where it has one, else in integers. Included by loops.cpp for each instruction set.
#pragma once

#include <cstdint>

#if defined(__F16C__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace tutti::cpu::TUTTI_ISA {

#if defined(__AVX512F__)
// Masked forms: GCC 12 takes the others for reads of something uninitialised.
inline constexpr __mmask16 all16 = 0xffff;
#endif

[[gnu::always_inline]] inline float float_of_half(std::uint16_t half) {
  constexpr std::uint32_t exponent = 0x7c00u << 13, rebias = (127u - 15u) << 23;
  constexpr std::uint32_t least = (127u - 14u) << 23;  // 2⁻¹⁴, the least that is not subnormal
  const std::uint32_t bits = (half & 0x7fffu) << 13;
  const std::uint32_t of = bits & exponent;
  const std::uint32_t infinite = of == exponent ? rebias : 0u;
  // A subnormal is 2⁻¹⁴ · (1 + m) − 2⁻¹⁴, exactly.
  const float small = __builtin_bit_cast(float, bits + least) - __builtin_bit_cast(float, least);
  const std::uint32_t magnitude =
      of == 0 ? __builtin_bit_cast(std::uint32_t, small) : bits + rebias + infinite;
  return __builtin_bit_cast(float, magnitude | (half & 0x8000u) << 16);
}

[[gnu::always_inline]] inline std::uint16_t half_of_float(float value) {
  constexpr std::uint32_t infinity = 0x7f800000u, beyond = (127u + 16u) << 23;
  constexpr std::uint32_t least = (127u - 14u) << 23, rebias = (127u - 15u) << 23;
  const auto all = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t bits = all & 0x7fffffffu;
  // Added to 0.5, a subnormal's bits come to lie, rounded, at the end of the sum's.
  const float sum = __builtin_bit_cast(float, bits) + 0.5f;
  const std::uint32_t small = __builtin_bit_cast(std::uint32_t, sum) - 0x3f000000u;
  const std::uint32_t rounded = (bits - rebias + 0xfffu + ((bits >> 13) & 1u)) >> 13;
  const std::uint32_t large = bits > infinity ? 0x7e00u | ((bits >> 13) & 0x3ffu) : 0x7c00u;
  const std::uint32_t magnitude = bits >= beyond ? large : bits < least ? small : rounded;
  return static_cast<std::uint16_t>(magnitude | (all & 0x80000000u) >> 16);
}

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
