// SPDX-License-Identifier: Apache-2.0
// IEEE half (binary16) as bits, to float and back, in integers: widening is exact, narrowing rounds
// to the nearest, ties to even. Always inlined, since vector loops are compiled for several
// instruction sets.
#pragma once

#include <cstdint>

namespace tutti {

[[gnu::always_inline]] inline float float_of_half(std::uint16_t half) {
  constexpr std::uint32_t exponent = 0x7c00u << 13, rebias = (127u - 15u) << 23;
  constexpr std::uint32_t least = (127u - 14u) << 23;  // 2⁻¹⁴, the least half that is not subnormal
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
  // Added to 0.5, a number that becomes a subnormal half leaves its bits, rounded, at the end of
  // the sum.
  const float sum = __builtin_bit_cast(float, bits) + 0.5f;
  const std::uint32_t small = __builtin_bit_cast(std::uint32_t, sum) - 0x3f000000u;
  const std::uint32_t rounded = (bits - rebias + 0xfffu + ((bits >> 13) & 1u)) >> 13;
  const std::uint32_t large = bits > infinity ? 0x7e00u | ((bits >> 13) & 0x3ffu) : 0x7c00u;
  const std::uint32_t magnitude = bits >= beyond ? large : bits < least ? small : rounded;
  return static_cast<std::uint16_t>(magnitude | (all & 0x80000000u) >> 16);
}

}  // namespace tutti
