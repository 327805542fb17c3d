// SPDX-License-Identifier: Apache-2.0
// A vector multiplied along one axis: y = x · g. gain and gain_grad collect the same sum of
// products in different tensors, so the gradients of both are made of the two.
#include "tutti/ops/gain.h"

#include "tutti/ops/shared/axis.h"
#include "tutti/ops/shared/pointwise.h"
#include "tutti/ops/shared/traffic.h"

#include <vector>

namespace tutti::ops {
namespace {

const std::vector<Setting> axis_setting{
    {.name = "axis",
     .initial = std::int64_t{1},
     .doc = "dimension along which g lies; negative ones count from the last"}};

// Cases of one operator; `make` picks its inputs from the types of x and g.
template <class Make>
std::vector<OpCase> cases_from(Make&& make) {
  const auto one = [&](std::int64_t axis, Shape x, std::int64_t channels) {
    return OpCase{{{"axis", axis}},
                  make(Type{DType::f64, std::move(x)}, Type{DType::f64, {channels}})};
  };
  return {one(1, {4, 3}, 3), one(1, {2, 3, 4, 5}, 3), one(-1, {2, 3, 5}, 5), one(0, {3, 4}, 3)};
}

}  // namespace

const Op gain{
    .name = "gain",
    .doc = "y = x · g along one axis",
    .settings = axis_setting,
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::int64_t channels = view_along("gain", settings, in.at(0).shape).extent;
          if (!is_float(in[0].dtype) || in.at(1) != Type{in[0].dtype, {channels}})
            throw Error("[gain] g is {} {}, expected {} {}, the extent of axis {} of {}",
                        name_of(in[1].dtype), to_string(in[1].shape), name_of(in[0].dtype),
                        channels, settings.integer("axis"), to_string(in[0].shape));
          return std::vector<Type>{in[0]};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          const Settings settings = node.settings;
          const ValueId x = node.inputs[0], g = node.inputs[1];
          const ValueId dx = graph.add1(gain, {dy[0], g}, settings);
          return std::vector<ValueId>{dx, graph.add1(gain_grad, {dy[0], x}, settings)};
        },
    .cost = cost_pointwise,
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = dimension_indices(in[0].shape);
          return fmt::format("x[{}] g[{}] -> y[{}]", x, axis_index("gain", settings, in[0].shape),
                             x);
        },
    .reference =
        [](const Call& call) {
          const AxisView view = view_along("gain", call.settings, call.in[0].shape);
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T *x = call.in[0].as<T>(), *g = call.in[1].as<T>();
            for (std::int64_t i = 0; i < call.in[0].count(); ++i)
              call.out[0].as<T>()[i] = x[i] * g[i / view.inner % view.extent];
          });
        },
    .cases = [] { return cases_from([](Type x, Type g) {
                    return std::vector<Type>{x, g};
                  }); },
    .in_place = {{0, 0}},
};

const Op gain_grad{
    .name = "gain_grad",
    .doc = "dg = Σ a · b over all axes but one",
    .settings = axis_setting,
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Type x = infer_pointwise("gain_grad", in)[0];
          return std::vector<Type>{{x.dtype, {view_along("gain_grad", settings, x.shape).extent}}};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          const Settings settings = node.settings;
          const ValueId a = node.inputs[0], b = node.inputs[1];
          const ValueId in_a = graph.add1(gain, {b, v[0]}, settings);
          return std::vector<ValueId>{in_a, graph.add1(gain, {a, v[0]}, settings)};
        },
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          const std::int64_t count = elements(in[0].shape);
          return with_traffic({.work = static_cast<double>(count),
                               .depth = 1.0 + log2_ceiling(count / elements(out[0].shape))},
                              in, out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = dimension_indices(in[0].shape);
          return fmt::format("a[{}] b[{}] -> dg[{}]", x, x,
                             axis_index("gain", settings, in[0].shape));
        },
    .reference =
        [](const Call& call) {
          const AxisView view = view_along("gain_grad", call.settings, call.in[0].shape);
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T *a = call.in[0].as<T>(), *b = call.in[1].as<T>();
            std::vector<double> sum(static_cast<std::size_t>(view.extent));
            for (std::int64_t i = 0; i < call.in[0].count(); ++i)
              sum[static_cast<std::size_t>(i / view.inner % view.extent)] +=
                  static_cast<double>(a[i]) * static_cast<double>(b[i]);
            for (std::size_t c = 0; c < sum.size(); ++c)
              call.out[0].as<T>()[c] = static_cast<T>(sum[c]);
          });
        },
    .cases = [] { return cases_from([](Type x, Type) {
                    return std::vector<Type>{x, x};
                  }); },
};

}  // namespace tutti::ops
