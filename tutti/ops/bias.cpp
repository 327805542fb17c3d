// SPDX-License-Identifier: Apache-2.0
// A vector added along one axis: y = x + b. Its gradient sums over all other axes, and the gradient
// of that sum repeats the vector.
#include "tutti/ops/bias.h"

#include "tutti/ops/shared/axis.h"
#include "tutti/ops/shared/pointwise.h"
#include "tutti/ops/shared/traffic.h"

#include <algorithm>

namespace tutti::ops {
namespace {

template <class Visit>
void for_each(const AxisView& view, Visit&& visit) {  // visit(element, channel)
  std::int64_t i = 0;
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t c = 0; c < view.extent; ++c)
      for (std::int64_t in = 0; in < view.inner; ++in) visit(i++, c);
}

void check_vector(const char* name, const Settings& settings, const Type& x, const Type& b) {
  if (!is_float(x.dtype))
    throw Error("[{}] works on floating-point values, not {}", name, name_of(x.dtype));
  const std::int64_t channels = view_along(name, settings, x.shape).extent;
  if (b != Type{x.dtype, {channels}})
    throw Error("[{}] b is {} {}, expected {} {}, the extent of axis {} of {}", name,
                name_of(b.dtype), to_string(b.shape), name_of(x.dtype), channels,
                settings.integer("axis"), to_string(x.shape));
}

Setting axis_setting() {
  return {.name = "axis",
          .initial = std::int64_t{1},
          .doc = "dimension along which b lies; negative ones count from the last"};
}

// Cases of one operator; `make` picks its inputs from the types of x and b.
template <class Make>
std::vector<OpCase> cases_from(Make&& make) {
  const auto one = [&](std::int64_t axis, Shape x, std::int64_t channels) {
    return OpCase{{{"axis", axis}},
                  make(Type{DType::f64, std::move(x)}, Type{DType::f64, {channels}})};
  };
  return {one(1, {4, 3}, 3), one(1, {2, 3, 4, 5}, 3), one(-1, {2, 3, 5}, 5), one(0, {7}, 7)};
}

}  // namespace

const Op bias{
    .name = "bias",
    .doc = "y = x + b along one axis",
    .settings = {axis_setting()},
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          check_vector("bias", settings, in.at(0), in.at(1));
          return std::vector<Type>{in[0]};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return std::vector<ValueId>{dy[0], graph.add1(bias_grad, {dy[0]}, node.settings)};
        },
    .cost = cost_pointwise,
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = dimension_indices(in[0].shape);
          return fmt::format("x[{}] b[{}] -> y[{}]", x, axis_index("bias", settings, in[0].shape),
                             x);
        },
    .reference =
        [](const Call& call) {
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T *x = call.in[0].as<T>(), *b = call.in[1].as<T>();
            T* y = call.out[0].as<T>();
            for_each(view_along("bias", call.settings, call.in[0].shape),
                     [&](std::int64_t i, std::int64_t c) { y[i] = x[i] + b[c]; });
          });
        },
    .cases = [] { return cases_from([](Type x, Type b) {
                    return std::vector<Type>{x, b};
                  }); },
    .in_place = {{0, 0}},
};

const Op bias_grad{
    .name = "bias_grad",
    .doc = "db = sum of dy over all axes but one",
    .settings = {axis_setting()},
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          if (!is_float(in.at(0).dtype))
            throw Error("[bias_grad] works on floating-point values, not {}", name_of(in[0].dtype));
          return std::vector<Type>{
              {in[0].dtype, {view_along("bias_grad", settings, in[0].shape).extent}}};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& ddb) {
          return graph.add(broadcast_bias, {ddb[0], node.inputs[0]}, node.settings);
        },
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          const std::int64_t count = elements(in[0].shape);
          return with_traffic(
              {.work = static_cast<double>(count),
               .depth = static_cast<double>(log2_ceiling(count / elements(out[0].shape)))},
              in, out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          return fmt::format("dy[{}] -> db[{}]", dimension_indices(in[0].shape),
                             axis_index("bias_grad", settings, in[0].shape));
        },
    .reference =
        [](const Call& call) {
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T* dy = call.in[0].as<T>();
            T* db = call.out[0].as<T>();
            std::fill_n(db, call.out[0].count(), T{0});
            for_each(view_along("bias_grad", call.settings, call.in[0].shape),
                     [&](std::int64_t i, std::int64_t c) { db[c] += dy[i]; });
          });
        },
    .cases = [] { return cases_from([](Type x, Type) { return std::vector<Type>{x}; }); },
};

const Op broadcast_bias{
    .name = "broadcast_bias",
    .doc = "y = b repeated to the shape of `like`, whose values are not read",
    .settings = {axis_setting()},
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          check_vector("broadcast_bias", settings, in.at(1), in.at(0));
          return std::vector<Type>{in[1]};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return std::vector<ValueId>{graph.add1(bias_grad, {dy[0]}, node.settings), no_value};
        },
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          return with_traffic({.work = static_cast<double>(elements(out[0].shape)), .depth = 1},
                              {in[0]}, out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = dimension_indices(in[1].shape);
          return fmt::format("b[{}] like[{}] -> y[{}]",
                             axis_index("broadcast_bias", settings, in[1].shape), x, x);
        },
    .reference =
        [](const Call& call) {
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T* b = call.in[0].as<T>();
            T* y = call.out[0].as<T>();
            for_each(view_along("broadcast_bias", call.settings, call.in[1].shape),
                     [&](std::int64_t i, std::int64_t c) { y[i] = b[c]; });
          });
        },
    .cases = [] { return cases_from([](Type x, Type b) {
                    return std::vector<Type>{b, x};
                  }); },
};

}  // namespace tutti::ops
