// SPDX-License-Identifier: Apache-2.0
// Element types. A data type is a value everywhere above kernels/; dispatch_float() and
// dispatch_real() (bf16.h) turn it into a C++ type at the leaf.
#pragma once

#include "tutti/core/error.h"

#include <cstdint>
#include <string_view>

namespace tutti {

// bf16 is for values that travel between ranks; only sums are computed in it.
enum class DType : std::uint8_t { f32, f64, i32, u8, i8, bf16, i64 };

constexpr std::int64_t bytes_of(DType type) {
  switch (type) {
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::bf16:
      return 2;
    case DType::u8:
    case DType::i8:
      return 1;
  }
  return 0;
}

constexpr std::string_view name_of(DType type) {
  constexpr std::string_view names[] = {"f32", "f64", "i32", "u8", "i8", "bf16", "i64"};
  return names[static_cast<int>(type)];
}

// Whether operators compute in this type.
constexpr bool is_float(DType type) { return type == DType::f32 || type == DType::f64; }

// The type called `name` in a recipe; throws Error when there is none.
DType dtype_named(std::string_view name);

// Calls function(T{}) with T = float or double.
template <class Function>
decltype(auto) dispatch_float(DType type, Function&& function) {
  if (type == DType::f32) return function(float{});
  check(type == DType::f64, "a floating-point type is expected here");
  return function(double{});
}

}  // namespace tutti
