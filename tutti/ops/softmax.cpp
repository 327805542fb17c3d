// SPDX-License-Identifier: Apache-2.0
// Softmax along one axis: y_i = exp(x_i - max x) / Σ, finite for any finite x. Its Jacobian
// diag(y) - y yᵀ is symmetric, so the gradient operator is its own derivative in dy.
#include "tutti/ops/softmax.h"

#include "tutti/ops/shared/axis.h"
#include "tutti/ops/shared/pointwise.h"
#include "tutti/ops/shared/traffic.h"

#include <algorithm>
#include <cmath>

namespace tutti::ops {
namespace {

const std::vector<Setting> axis_setting = {
    {.name = "axis", .initial = std::int64_t{-1}, .doc = "dimension that sums to one"}};

std::vector<Type> infer(const char* name, const Settings& settings, const std::vector<Type>& in) {
  axis_of(name, settings, in[0].shape);
  return infer_pointwise(name, in);
}

// Per element about one maximum, one exponential, one sum and one quotient.
Cost cost(const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
  const Shape& shape = in[0].shape;
  const int reduction = log2_ceiling(shape[axis_of("softmax", settings, shape)]);
  return with_traffic(
      {.work = 4.0 * static_cast<double>(elements(shape)), .depth = 2.0 * reduction + 2}, in, out);
}

// Calls function(first, stride, extent, zero) for every line along the axis.
template <class Function>
void for_each_line(const Call& call, Function&& function) {
  const Shape& shape = call.out[0].shape;
  const AxisView view = view_along("softmax", call.settings, shape);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    for (std::int64_t o = 0; o < view.outer; ++o)
      for (std::int64_t i = 0; i < view.inner; ++i)
        function(o * view.extent * view.inner + i, view.inner, view.extent, zero);
  });
}

template <class T>
double dot(const T* a, const T* b, std::int64_t stride, std::int64_t extent) {
  double sum = 0;
  for (std::int64_t k = 0; k < extent; ++k)
    sum += static_cast<double>(a[k * stride]) * static_cast<double>(b[k * stride]);
  return sum;
}

void reference(const Call& call) {
  for_each_line(call, [&](std::int64_t first, std::int64_t stride, std::int64_t extent, auto zero) {
    using T = decltype(zero);
    const T* x = call.in[0].as<T>() + first;
    T* y = call.out[0].as<T>() + first;
    T largest = x[0];
    for (std::int64_t k = 1; k < extent; ++k) largest = std::max(largest, x[k * stride]);
    double sum = 0;
    for (std::int64_t k = 0; k < extent; ++k)
      sum += y[k * stride] = std::exp(x[k * stride] - largest);
    for (std::int64_t k = 0; k < extent; ++k)
      y[k * stride] = static_cast<T>(static_cast<double>(y[k * stride]) / sum);
  });
}

void reference_grad(const Call& call) {
  for_each_line(call, [&](std::int64_t first, std::int64_t stride, std::int64_t extent, auto zero) {
    using T = decltype(zero);
    const T *dy = call.in[0].as<T>() + first, *y = call.in[1].as<T>() + first;
    T* dx = call.out[0].as<T>() + first;
    const T mean = static_cast<T>(dot(dy, y, stride, extent));
    for (std::int64_t k = 0; k < extent * stride; k += stride) dx[k] = y[k] * (dy[k] - mean);
  });
}

void reference_grad2(const Call& call) {
  for_each_line(call, [&](std::int64_t first, std::int64_t stride, std::int64_t extent, auto zero) {
    using T = decltype(zero);
    const T *v = call.in[0].as<T>() + first, *dy = call.in[1].as<T>() + first;
    const T* y = call.in[2].as<T>() + first;
    T* in_y = call.out[0].as<T>() + first;
    const T mean_dy = static_cast<T>(dot(dy, y, stride, extent));
    const T mean_v = static_cast<T>(dot(v, y, stride, extent));
    for (std::int64_t k = 0; k < extent * stride; k += stride)
      in_y[k] = v[k] * (dy[k] - mean_dy) - mean_v * dy[k];
  });
}

std::vector<ValueId> gradient_of_grad(Graph& graph, const Node& node,
                                      const std::vector<ValueId>& v) {
  const ValueId dy = node.inputs[0], y = node.inputs[1];
  const Settings settings = node.settings;
  const ValueId in_dy = graph.add1(softmax_grad, {v[0], y}, settings);
  return {in_dy, graph.add1(softmax_grad2, {v[0], dy, y}, settings)};
}

std::vector<OpCase> cases(std::size_t arity) {
  const auto inputs = [&](Shape shape) {
    return std::vector<Type>(arity, {DType::f64, std::move(shape)});
  };
  return {
      {{}, inputs({5})}, {{}, inputs({4, 6})}, {{{"axis", std::int64_t{1}}}, inputs({2, 3, 4})}};
}

}  // namespace

const Op softmax{
    .name = "softmax",
    .doc = "y_i = exp(x_i - max x) / Σ exp(x_k - max x) along an axis",
    .settings = axis_setting,
    .infer = [](const Settings& settings,
                const std::vector<Type>& in) { return infer("softmax", settings, in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(softmax_grad, {dy[0], node.outputs[0]}, node.settings);
        },
    .cost = cost,
    .sharding = sharding_along,
    .reference = reference,
    .cases = [] { return cases(1); },
    .in_place = {{0, 0}},
};

const Op softmax_grad{
    .name = "softmax_grad",
    .doc = "dx = y (dy - Σ dy · y) along an axis",
    .settings = axis_setting,
    .infer = [](const Settings& settings,
                const std::vector<Type>& in) { return infer("softmax_grad", settings, in); },
    .gradient = gradient_of_grad,
    .cost = cost,
    .sharding = sharding_along,
    .reference = reference_grad,
    .cases = [] { return cases(2); },
    .in_place = {{0, 0}},
};

const Op softmax_grad2{
    .name = "softmax_grad2",
    .doc = "v (dy - Σ dy · y) - dy Σ v · y along an axis: the gradient of softmax_grad in y",
    .settings = axis_setting,
    .infer = [](const Settings& settings,
                const std::vector<Type>& in) { return infer("softmax_grad2", settings, in); },
    .undifferentiable = "softmax has no third derivative here",
    .cost = cost,
    .sharding = sharding_along,
    .reference = reference_grad2,
    .cases = [] { return cases(3); },
};

}  // namespace tutti::ops
