// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/quantise.h"

#include "tutti/ops/shared/activation.h"
#include "tutti/ops/shared/traffic.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti::ops {
namespace {

constexpr const char* for_inference = "rounding to 8 bits has no derivative: it is for inference";

std::vector<Type> infer_quantise(const Settings&, const std::vector<Type>& in) {
  if (!is_float(in.at(0).dtype) || in[0].shape.size() != 2)
    throw Error("[quantise] x is {} {}, expected a matrix of floating-point numbers",
                name_of(in[0].dtype), to_string(in[0].shape));
  return {{DType::i8, in[0].shape}, {in[0].dtype, {in[0].shape[0]}}};
}

Cost cost_quantise(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  const auto count = static_cast<double>(elements(in[0].shape));
  // The largest magnitude, then a product and a rounding.
  return with_traffic(
      {.work = 3 * count, .depth = static_cast<double>(log2_ceiling(in[0].shape[1])) + 2}, in, out);
}

// A row with an element that is not finite gets the scale NaN, so that everything computed from it
// is NaN.
void reference_quantise(const Call& call) {
  const std::int64_t rows = call.in[0].shape[0], n = call.in[0].shape[1];
  dispatch_float(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t r = 0; r < rows; ++r) {
      const T* x = call.in[0].as<T>() + r * n;
      std::int8_t* q = call.out[0].as<std::int8_t>() + r * n;
      T largest = 0;
      bool finite = true;
      for (std::int64_t i = 0; i < n; ++i) {
        largest = std::max(largest, std::abs(x[i]));
        finite = finite && std::isfinite(x[i]);
      }
      const T factor = largest > 0 ? 127 / largest : 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const T rounded = std::nearbyint(x[i] * factor);
        q[i] = static_cast<std::int8_t>(rounded < 127 ? (rounded > -127 ? rounded : -127) : 127);
      }
      call.out[1].as<T>()[r] = finite ? largest / 127 : std::numeric_limits<T>::quiet_NaN();
    }
  });
}

std::vector<OpCase> cases_quantise() {
  return {
      {{}, {{DType::f64, {3, 5}}}}, {{}, {{DType::f64, {2, 70}}}}, {{}, {{DType::f64, {1, 1}}}}};
}

constexpr std::size_t bias = 3, residual = 4;

std::vector<Type> infer_dequantise(const Settings&, const std::vector<Type>& in) {
  if (in.size() < 3 || in.size() > 5 || in[0].dtype != DType::i32 || in[0].shape.size() != 2)
    throw Error(
        "[dequantise] has {} inputs and sums of {} {}, expected a matrix of i32, scales of its "
        "rows and columns and optionally a bias and a residual",
        in.size(), name_of(in.at(0).dtype), to_string(in[0].shape));
  const Shape& shape = in[0].shape;
  const Type y{in[1].dtype, shape}, rows{y.dtype, {shape[0]}}, columns{y.dtype, {shape[1]}};
  const auto fits = [&](std::size_t k, const Type& expected) {
    return !present(in, k) || in[k] == expected;
  };
  if (!is_float(y.dtype) || in[1] != rows || in[2] != columns || !fits(bias, columns) ||
      !fits(residual, y))
    throw Error("[dequantise] sums are {}, scales {} and {}, bias {}, residual {}: they do not fit",
                to_string(shape), to_string(in[1].shape), to_string(in[2].shape),
                present(in, bias) ? to_string(in[bias].shape) : "none",
                present(in, residual) ? to_string(in[residual].shape) : "none");
  return {y};
}

Cost cost_dequantise(const Settings& settings, const std::vector<Type>& in,
                     const std::vector<Type>& out) {
  const int parts = 2 + int{present(in, bias)} + int{present(in, residual)} +
                    int{activation_of(settings) != Activation::none};
  return with_traffic({.work = parts * static_cast<double>(elements(out[0].shape)),
                       .depth = static_cast<double>(parts)},
                      in, out);
}

std::string sharding_dequantise(const Settings&, const std::vector<Type>& in) {
  std::string rule = "sums[m,n] row_scale[m] column_scale[n]";
  if (in.size() > bias) rule += present(in, bias) ? " bias[n]" : " bias[]";
  if (in.size() > residual) rule += present(in, residual) ? " residual[m,n]" : " residual[]";
  return rule + " -> y[m,n]";
}

void reference_dequantise(const Call& call) {
  const std::int64_t m = call.out[0].shape[0], n = call.out[0].shape[1];
  const Activation activation = activation_of(call.settings);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto given = [&](std::size_t k) -> const T* {
      return k < call.in.size() ? call.in[k].as<T>() : nullptr;
    };
    const std::int32_t* sums = call.in[0].as<std::int32_t>();
    const T *row_scale = given(1), *column_scale = given(2);
    const T *b = given(bias), *z = given(residual);
    const T slope = static_cast<T>(call.settings.real("slope"));
    for (std::int64_t i = 0; i < m * n; ++i) {
      T y = static_cast<T>(sums[i]) * (row_scale[i / n] * column_scale[i % n]);
      if (b != nullptr) y += b[i % n];
      if (z != nullptr) y += z[i];
      call.out[0].as<T>()[i] = activate(activation, y, slope);
    }
  });
}

std::vector<OpCase> cases_dequantise() {
  const Type sums{DType::i32, {3, 21}}, rows{DType::f64, {3}}, columns{DType::f64, {21}};
  const Type y{DType::f64, {3, 21}};
  std::vector<OpCase> all = {{.settings = {}, .in = {sums, rows, columns}, .classes = 100000},
                             {.settings = {}, .in = {sums, rows, columns, Type{}, y}}};
  for (const char* activation : {"none", "relu", "leaky_relu", "tanh"})
    all.push_back({{{"activation", activation}}, {sums, rows, columns, columns, y}});
  return all;
}

}  // namespace

const Op quantise{
    .name = "quantise",
    .doc = "rows as 8-bit integers: q = x / scale to the nearest, scale = max |x| / 127",
    .infer = infer_quantise,
    .undifferentiable = for_inference,
    .cost = cost_quantise,
    .sharding = [](const Settings&,
                   const std::vector<Type>&) { return std::string("x[n,*] -> q[n,*] scale[n]"); },
    .reference = reference_quantise,
    .cases = cases_quantise,
};

const Op dequantise{
    .name = "dequantise",
    .doc = "sums of 8-bit products as floats, with bias, residual and activation",
    .settings = {activation_setting(), activation_slope_setting()},
    .infer = infer_dequantise,
    .undifferentiable = for_inference,
    .cost = cost_dequantise,
    .sharding = sharding_dequantise,
    .reference = reference_dequantise,
    .cases = cases_dequantise,
};

}  // namespace tutti::ops
