// SPDX-License-Identifier: Apache-2.0
// Tensors that own their memory, and random inputs for a case of an operator: values that are exact
// in float, keep away from the kinks at 0 and are hardly ever equal.
#pragma once

#include "tutti/core/bf16.h"
#include "tutti/core/rng.h"
#include "tutti/graph/op.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace tutti::contract {

struct Array {
  Type type;
  std::vector<double> memory = {};  // of any type; doubles only for their alignment
  bool absent = false;              // an optional input that is not given

  explicit Array(Type of) : type(std::move(of)) {
    memory.resize(static_cast<std::size_t>((type.bytes() + 7) / 8));
  }
  static Array none() {
    Array array{Type{}};
    array.absent = true;
    return array;
  }

  std::int64_t count() const { return elements(type.shape); }
  Tensor tensor() {
    return {type.dtype, type.shape, absent ? nullptr : static_cast<void*>(memory.data())};
  }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(memory.data());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(memory.data());
  }

  double get(std::int64_t i) const {
    switch (type.dtype) {
      case DType::f32:
        return static_cast<double>(as<float>()[i]);
      case DType::f64:
        return as<double>()[i];
      case DType::i32:
        return as<std::int32_t>()[i];
      case DType::i64:
        return static_cast<double>(as<std::int64_t>()[i]);
      case DType::u8:
        return as<std::uint8_t>()[i];
      case DType::i8:
        return as<std::int8_t>()[i];
      case DType::bf16:
        return static_cast<double>(as<Bf16>()[i]);
    }
    return 0;
  }
  void set(std::int64_t i, double value) {
    switch (type.dtype) {
      case DType::f32:
        as<float>()[i] = static_cast<float>(value);
        break;
      case DType::f64:
        as<double>()[i] = value;
        break;
      case DType::i32:
        as<std::int32_t>()[i] = static_cast<std::int32_t>(value);
        break;
      case DType::i64:
        as<std::int64_t>()[i] = static_cast<std::int64_t>(value);
        break;
      case DType::u8:
        as<std::uint8_t>()[i] = static_cast<std::uint8_t>(value);
        break;
      case DType::i8:
        as<std::int8_t>()[i] = static_cast<std::int8_t>(value);
        break;
      case DType::bf16:
        as<Bf16>()[i] = Bf16(static_cast<float>(value));
        break;
    }
  }
};

// Floats in ±[0.1, 1), integers in [0, classes), signed bytes in ±[0, classes).
inline Array random_array(const Type& type, std::uint64_t key, std::int64_t classes = 3) {
  Array array(type);
  const std::int64_t count = array.count();
  for (std::int64_t i = 0; i < count; ++i) {
    const double u = uniform(key, static_cast<std::uint64_t>(2 * i));
    const double sign = draw(key, static_cast<std::uint64_t>(2 * i + 1)) >> 63 ? -1 : 1;
    const double integer = std::floor(u * static_cast<double>(classes));
    array.set(i, is_float(type.dtype)      ? static_cast<float>(sign * (0.1 + 0.9 * u))
                 : type.dtype == DType::i8 ? sign * integer
                                           : integer);
  }
  return array;
}

inline double sum_of(const Array& array) {
  double sum = 0;
  for (std::int64_t i = 0; i < array.count(); ++i) sum += array.get(i);
  return sum;
}

// Every byte set, which reads as NaN: what an operator must overwrite.
inline Array unwritten_array(const Type& type) {
  Array array(type);
  std::memset(array.memory.data(), 0xff, array.memory.size() * sizeof(double));
  return array;
}

inline Array converted(const Array& array, DType float_type) {
  if (array.absent || !is_float(array.type.dtype)) return array;
  Array result({float_type, array.type.shape});
  const std::int64_t count = array.count();
  for (std::int64_t i = 0; i < count; ++i) result.set(i, array.get(i));
  return result;
}

// The inputs of a case, floating-point ones in `float_type`. Cases are written in f64; an empty
// Type in them is an absent input.
inline std::vector<Array> random_inputs(const OpCase& size, DType float_type = DType::f64,
                                        std::uint64_t key = 7) {
  std::vector<Array> inputs;
  for (std::size_t i = 0; i < size.in.size(); ++i)
    inputs.push_back(
        size.in[i] == Type{}
            ? Array::none()
            : converted(random_array(size.in[i], fold(key, i), size.classes), float_type));
  return inputs;
}

// The settings of a case with defaults, and its element type where the operator has such a setting.
inline Settings case_settings(const Op& op, const OpCase& size, DType float_type = DType::f64) {
  Settings settings = resolve(op.settings, size.settings, "[" + op.name + "]");
  if (settings.has("dtype")) settings.set("dtype", std::string(name_of(float_type)));
  return settings;
}

inline std::vector<Type> types_of(const std::vector<Array>& arrays) {
  std::vector<Type> types;
  for (const Array& array : arrays) types.push_back(array.type);
  return types;
}

// Largest |a - b| relative to the largest magnitude in b (at least 1); NaN counts as infinite.
inline double difference(const Array& a, const Array& b) {
  if (a.type.shape != b.type.shape) return INFINITY;
  double scale = 1, largest = 0;
  const std::int64_t count = b.count();
  for (std::int64_t i = 0; i < count; ++i) scale = std::max(scale, std::abs(b.get(i)));
  for (std::int64_t i = 0; i < count; ++i) {
    const double error = std::abs(a.get(i) - b.get(i)) / scale;
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  }
  return largest;
}

}  // namespace tutti::contract
