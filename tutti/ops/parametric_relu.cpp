// SPDX-License-Identifier: Apache-2.0
// Parametric ReLU (He et al. 2015): y = x where x > 0, else slope · x, with a learned slope for
// each channel or one for all.
#include "tutti/ops/parametric_relu.h"

#include "tutti/ops/shared/axis.h"
#include "tutti/ops/shared/traffic.h"

#include <vector>

namespace tutti::ops {
namespace {

void check_slope(const char* name, const Type& x, const Type& slope) {
  const std::int64_t channels = x.shape.size() > 1 ? x.shape[1] : 1;
  if (!is_float(x.dtype) || slope.dtype != x.dtype || slope.shape.size() != 1 ||
      (slope.shape[0] != 1 && slope.shape[0] != channels))
    throw Error("[{}] slope is {} {}, expected {} with one element or {} (the channels of {})",
                name, name_of(slope.dtype), to_string(slope.shape), name_of(x.dtype), channels,
                to_string(x.shape));
}

bool per_channel(const Shape& x, const Shape& slope) { return x.size() > 1 && slope[0] == x[1]; }

// The index of the slope that element i of x has.
struct Channels {
  std::int64_t inner = 1, count = 1;
  std::int64_t operator()(std::int64_t i) const { return i / inner % count; }
};
Channels channels_of(const Shape& x, const Shape& slope) {
  if (!per_channel(x, slope)) return {elements(x) > 0 ? elements(x) : 1, 1};
  return {elements(x, 2, x.size()), x[1]};
}

const char* slope_letter(const Type& x, const Type& slope) {
  return per_channel(x.shape, slope.shape) ? "b" : "*";
}

Cost cost_of(const std::vector<Type>& in, const std::vector<Type>& out, const Type& x,
             double operations, bool reduces) {
  const std::int64_t count = elements(x.shape);
  return with_traffic({.work = operations * static_cast<double>(count),
                       .depth = reduces ? 2.0 + log2_ceiling(count) : 1.0},
                      in, out);
}

template <class T>
void store(const std::vector<double>& values, const Tensor& tensor) {
  for (std::size_t i = 0; i < values.size(); ++i) tensor.as<T>()[i] = static_cast<T>(values[i]);
}

void reference(const Call& call) {
  const Channels channel = channels_of(call.in[0].shape, call.in[1].shape);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *x = call.in[0].as<T>(), *slope = call.in[1].as<T>();
    for (std::int64_t i = 0; i < call.in[0].count(); ++i)
      call.out[0].as<T>()[i] = x[i] > 0 ? x[i] : slope[channel(i)] * x[i];
  });
}

void reference_grad(const Call& call) {
  const Channels channel = channels_of(call.in[1].shape, call.in[2].shape);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *dy = call.in[0].as<T>(), *x = call.in[1].as<T>(), *slope = call.in[2].as<T>();
    T* dx = call.out[0].as<T>();
    std::vector<double> dslope(static_cast<std::size_t>(channel.count));
    for (std::int64_t i = 0; i < call.in[1].count(); ++i) {
      const std::int64_t c = channel(i);
      if (x[i] <= 0)
        dslope[static_cast<std::size_t>(c)] +=
            static_cast<double>(dy[i]) * static_cast<double>(x[i]);
      dx[i] = x[i] > 0 ? dy[i] : slope[c] * dy[i];
    }
    store<T>(dslope, call.out[1]);
  });
}

void reference_grad2(const Call& call) {
  const Channels channel = channels_of(call.in[3].shape, call.in[4].shape);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *v_dx = call.in[0].as<T>(), *v_dslope = call.in[1].as<T>(), *dy = call.in[2].as<T>();
    const T *x = call.in[3].as<T>(), *slope = call.in[4].as<T>();
    std::vector<double> in_slope(static_cast<std::size_t>(channel.count));
    for (std::int64_t i = 0; i < call.in[3].count(); ++i) {
      const std::int64_t c = channel(i);
      const T v = v_dx == nullptr ? T{0} : v_dx[i], u = v_dslope == nullptr ? T{0} : v_dslope[c];
      call.out[0].as<T>()[i] = x[i] > 0 ? v : slope[c] * v + u * x[i];
      call.out[1].as<T>()[i] = x[i] > 0 ? T{0} : u * dy[i];
      if (x[i] <= 0)
        in_slope[static_cast<std::size_t>(c)] +=
            static_cast<double>(v) * static_cast<double>(dy[i]);
    }
    store<T>(in_slope, call.out[2]);
  });
}

// Cases of one operator; `make` picks its inputs from the types of x and slope.
template <class Make>
std::vector<OpCase> cases_from(Make&& make) {
  std::vector<OpCase> all;
  for (const auto& [x, slopes] :
       {std::pair{Shape{4, 3}, 3}, {Shape{4, 3}, 1}, {Shape{2, 3, 4, 2}, 3}, {Shape{2, 3, 4}, 1}})
    all.push_back({{}, make(Type{DType::f64, x}, Type{DType::f64, {slopes}})});
  return all;
}

}  // namespace

const Op parametric_relu{
    .name = "parametric_relu",
    .doc = "y = x where x > 0, else slope · x; one slope or one per channel",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_slope("parametric_relu", in.at(0), in.at(1));
          return std::vector<Type>{in[0]};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(parametric_relu_grad, {dy[0], node.inputs[0], node.inputs[1]});
        },
    .cost = [](const Settings&, const std::vector<Type>& in,
               const std::vector<Type>& out) { return cost_of(in, out, in[0], 1, false); },
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          const std::string x = dimension_indices(in[0].shape);
          return fmt::format("x[{}] slope[{}] -> y[{}]", x, slope_letter(in[0], in[1]), x);
        },
    .reference = reference,
    .cases =
        [] { return cases_from([](Type x, Type slope) {
               return std::vector<Type>{x, slope};
             }); },
    .in_place = {{0, 0}},
};

const Op parametric_relu_grad{
    .name = "parametric_relu_grad",
    .doc = "dx = dy where x > 0, else slope · dy; dslope = Σ dy · min(x, 0)",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check(in.size() == 3 && in[0] == in[1], "dy is like x");
          check_slope("parametric_relu_grad", in[1], in[2]);
          return std::vector<Type>{in[1], in[2]};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          return graph.add(parametric_relu_grad2,
                           {v[0], v[1], node.inputs[0], node.inputs[1], node.inputs[2]});
        },
    .cost = [](const Settings&, const std::vector<Type>& in,
               const std::vector<Type>& out) { return cost_of(in, out, in[1], 2, true); },
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          const std::string x = dimension_indices(in[1].shape);
          const char* slope = slope_letter(in[1], in[2]);
          return fmt::format("dy[{}] x[{}] slope[{}] -> dx[{}] dslope[{}]", x, x, slope, x, slope);
        },
    .reference = reference_grad,
    .cases =
        [] {
          return cases_from([](Type x, Type slope) { return std::vector<Type>{x, x, slope}; });
        },
    .in_place = {{0, 0}},
};

const Op parametric_relu_grad2{
    .name = "parametric_relu_grad2",
    .doc = "the gradient of v · parametric_relu_grad in dy, x and slope",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check(in.size() == 5 && in[2] == in[3], "dy is like x");
          return std::vector<Type>{in[2], in[3], in[4]};
        },
    .undifferentiable = "parametric ReLU has no third derivative here",
    .cost = [](const Settings&, const std::vector<Type>& in,
               const std::vector<Type>& out) { return cost_of(in, out, in[3], 4, true); },
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          const std::string x = dimension_indices(in[3].shape);
          const char* slope = slope_letter(in[3], in[4]);
          return fmt::format(
              "v[{}] u[{}] dy[{}] x[{}] slope[{}] -> in_dy[{}] in_x[{}] in_slope[{}]",
              present(in, 0) ? x : "", present(in, 1) ? slope : "", x, x, slope, x, x, slope);
        },
    .reference = reference_grad2,
    .cases =
        [] {
          return cases_from([](Type x, Type slope) {
            return std::vector<Type>{x, slope, x, x, slope};
          });
        },
};

}  // namespace tutti::ops
