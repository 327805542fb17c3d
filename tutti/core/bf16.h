// SPDX-License-Identifier: Apache-2.0
// bf16: the upper 16 bits of a float. Widening is exact; narrowing rounds to the nearest value,
// ties to even, and keeps NaN a NaN. A sum is computed in float and rounded once.
#pragma once

#include "tutti/core/dtype.h"

#include <bit>
#include <cstdint>

namespace tutti {

struct Bf16 {
  std::uint16_t bits;

  Bf16() = default;
  explicit Bf16(float value) : bits(rounded(std::bit_cast<std::uint32_t>(value))) {}
  operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  Bf16& operator+=(Bf16 other) { return *this = *this + other; }
  friend Bf16 operator+(Bf16 a, Bf16 b) {
    return Bf16(static_cast<float>(a) + static_cast<float>(b));
  }

 private:
  static std::uint16_t rounded(std::uint32_t value) {
    const std::uint32_t nearest = (value + 0x7fff + ((value >> 16) & 1)) >> 16;
    // Rounding would turn some NaNs into infinity.
    const std::uint32_t quiet = (value >> 16) | 0x40;
    return static_cast<std::uint16_t>((value & 0x7fffffff) > 0x7f800000 ? quiet : nearest);
  }
};

// Calls function(T{}) with T = float, double or Bf16.
template <class Function>
decltype(auto) dispatch_real(DType type, Function&& function) {
  if (type == DType::bf16) return function(Bf16{});
  return dispatch_float(type, function);
}

}  // namespace tutti
