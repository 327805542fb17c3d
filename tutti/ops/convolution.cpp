// SPDX-License-Identifier: Apache-2.0
// Direct convolution (B05): cross-correlation with stride, padding, dilation and groups over 1 to 3
// spatial dimensions. Convolution and its two gradients are the same sum of products x·w·y; each
// collects the sum in another of the three tensors. So the gradients of the three operators are
// made of these three operators.
#include "tutti/ops/convolution.h"

#include "tutti/ops/shared/convolution_geometry.h"
#include "tutti/ops/shared/epilogue.h"

#include <algorithm>

namespace tutti::ops {
namespace {

template <class T>
void clear(const Tensor& tensor) {
  std::fill_n(tensor.as<T>(), tensor.count(), T{0});
}

// The index letters of channels and of x, w and y. Channels of several groups may not be split.
struct Indices {
  std::string c, o, x = {}, w = {}, y = {};
};

Indices indices(const Settings& settings, std::size_t rank, bool c_fixed) {
  const bool grouped = settings.integer("groups") > 1;
  Indices letters{.c = grouped || c_fixed ? "*" : "c", .o = grouped ? "*" : "o"};
  letters.x = "n," + letters.c + "," + window_indices(rank - 2);
  letters.w = letters.o + "," + letters.c + "," + kernel_indices(rank - 2);
  letters.y = "n," + letters.o + "," + output_indices(rank - 2);
  return letters;
}

Settings forward_settings(const Settings& settings) { return settings_for(convolution, settings); }

Settings input_settings(const Settings& settings, const Shape& x) {
  Settings all = settings_for(convolution_grad_input, settings);
  all.set("spatial", spatial_of(x));
  return all;
}

Settings weight_settings(const Settings& settings, const Shape& w) {
  Settings all = settings_for(convolution_grad_weight, settings);
  all.set("kernel", spatial_of(w));
  return all;
}

std::vector<Setting> settings_with(std::vector<Setting> more) {
  std::vector<Setting> all = convolution_settings();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Shape forward_shape(const ConvolutionCase& size) {
  const Settings settings = resolve(convolution.settings, size.settings, "[convolution]");
  return convolution.infer(settings, {{DType::f64, size.x}, {DType::f64, size.w}})[0].shape;
}

// Cases of one of the three operators; `make` picks its inputs from the types of x, w and y.
template <class Make>
std::vector<OpCase> cases_from(Make&& make) {
  std::vector<OpCase> all;
  for (const ConvolutionCase& size : convolution_cases()) {
    const Shape y = forward_shape(size);
    all.push_back(
        make(size, Type{DType::f64, size.x}, Type{DType::f64, size.w}, Type{DType::f64, y}));
  }
  return all;
}

}  // namespace

Geometry geometry_of(const Graph& graph, const Node& node) {
  const std::vector<Type> in = graph.types(node.inputs);
  if (node.op == &convolution) return forward_geometry(node.settings, in);
  if (node.op == &convolution_grad_input) return input_geometry(node.settings, in);
  return weight_geometry(node.settings, in);
}

const Op convolution{
    .name = "convolution",
    .doc = "cross-correlation of images with kernels, 1 to 3 spatial dimensions",
    .settings = settings_with({activation_setting(), activation_slope_setting()}),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Geometry g = forward_geometry(settings, in);
          const Type y = image_type(in[0].dtype, g.n, g.o, g.pixels);
          check_epilogue("convolution", in, y, g.o);
          return std::vector<Type>{y};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          const Settings settings = node.settings;
          const ValueId x = node.inputs[0], w = node.inputs[1];
          check(!has_epilogue(settings, graph.types(node.inputs)), "fusion comes after autodiff");
          // The gradient of w first: it may travel while the backward pass goes on.
          const ValueId dw = graph.add1(convolution_grad_weight, {x, dy[0]},
                                        weight_settings(settings, graph.shape(w)));
          const ValueId dx = graph.add1(convolution_grad_input, {dy[0], w},
                                        input_settings(settings, graph.shape(x)));
          return std::vector<ValueId>{dx, dw};
        },
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          const Geometry g = forward_geometry(settings, in);
          const Cost plain =
              products_cost(g, reduction_depth({g.c / g.groups}) + reduction_depth(g.kernel));
          return with_traffic(add_epilogue(plain, settings, in, out[0]), in, out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Indices at = indices(settings, in[0].shape.size(), has_epilogue(settings, in));
          return fmt::format("x[{}] w[{}]{} -> y[{}]", at.x, at.w, epilogue_indices(in, at.o, at.y),
                             at.y);
        },
    .reference =
        [](const Call& call) {
          const Geometry g = forward_geometry(call.settings, types_of(call.in));
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T *x = call.in[0].as<T>(), *w = call.in[1].as<T>();
            std::vector<T> sum(static_cast<std::size_t>(call.out[0].count()));
            for_each_product(g, [&](std::int64_t i, std::int64_t k, std::int64_t o) {
              sum[static_cast<std::size_t>(o)] += x[i] * w[k];
            });
            apply_epilogue(call, sum, g.o, elements(g.pixels));
          });
        },
    .cases =
        [] {
          std::vector<OpCase> all = cases_from(
              [](const ConvolutionCase& size, const Type& x, const Type& w, const Type&) {
                return OpCase{size.settings, {x, w}};
              });
          const Type x{DType::f64, {2, 3, 5, 4}}, w{DType::f64, {4, 3, 3, 3}};
          const Type bias{DType::f64, {4}}, y{DType::f64, {2, 4, 3, 2}};
          for (const char* activation : {"none", "relu", "leaky_relu", "sigmoid", "tanh", "gelu"})
            all.push_back({{{"activation", activation}}, {x, w, bias}});
          all.push_back({{{"activation", "relu"}}, {x, w, bias, y}});
          all.push_back({{}, {x, w, Type{}, y}});
          return all;
        },
};

const Op convolution_grad_input{
    .name = "convolution_grad_input",
    .doc = "dx of convolution from dy and w",
    .settings = settings_with({spatial_setting()}),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Geometry g = input_geometry(settings, in);
          return std::vector<Type>{image_type(in[0].dtype, g.n, g.c, g.image)};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& ddx) {
          const Settings settings = node.settings;
          const ValueId dy = node.inputs[0], w = node.inputs[1];
          const ValueId to_dy = graph.add1(convolution, {ddx[0], w}, forward_settings(settings));
          const ValueId to_w = graph.add1(convolution_grad_weight, {ddx[0], dy},
                                          weight_settings(settings, graph.shape(w)));
          return std::vector<ValueId>{to_dy, to_w};
        },
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          const Geometry g = input_geometry(settings, in);
          return with_traffic(
              products_cost(g, reduction_depth({g.o / g.groups}) + reduction_depth(g.kernel)), in,
              out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Indices at = indices(settings, in[0].shape.size(), false);
          return fmt::format("dy[{}] w[{}] -> dx[{}]", at.y, at.w, at.x);
        },
    .reference =
        [](const Call& call) {
          const Geometry g = input_geometry(call.settings, types_of(call.in));
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T *dy = call.in[0].as<T>(), *w = call.in[1].as<T>();
            T* dx = call.out[0].as<T>();
            clear<T>(call.out[0]);
            for_each_product(
                g, [&](std::int64_t i, std::int64_t k, std::int64_t o) { dx[i] += dy[o] * w[k]; });
          });
        },
    .cases =
        [] {
          return cases_from(
              [](const ConvolutionCase& size, const Type& x, const Type& w, const Type& y) {
                Settings settings = size.settings;
                settings.set("spatial", spatial_of(x.shape));
                return OpCase{settings, {y, w}};
              });
        },
};

const Op convolution_grad_weight{
    .name = "convolution_grad_weight",
    .doc = "dw of convolution from x and dy, and db when with_bias",
    .settings =
        settings_with({kernel_setting(),
                       {.name = "with_bias",
                        .initial = false,
                        .doc = "also return the sum of dy per channel, set by the fuse pass"}}),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Geometry g = weight_geometry(settings, in);
          std::vector<Type> out{image_type(in[0].dtype, g.o, g.c / g.groups, g.kernel)};
          if (settings.flag("with_bias")) out.push_back({in[0].dtype, {g.o}});
          return out;
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& ddw) {
          check(!node.settings.flag("with_bias"), "fusion comes after autodiff");
          const Settings settings = node.settings;
          const ValueId x = node.inputs[0], dy = node.inputs[1];
          const ValueId to_x = graph.add1(convolution_grad_input, {dy, ddw[0]},
                                          input_settings(settings, graph.shape(x)));
          const ValueId to_dy = graph.add1(convolution, {x, ddw[0]}, forward_settings(settings));
          return std::vector<ValueId>{to_x, to_dy};
        },
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          const Geometry g = weight_geometry(settings, in);
          Cost cost = products_cost(g, reduction_depth({g.n}) + reduction_depth(g.pixels));
          if (settings.flag("with_bias")) cost.work += static_cast<double>(elements(in[1].shape));
          return with_traffic(cost, in, out);
        },
    // With a bias c may not be split: every part would return the whole db.
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const bool with_bias = settings.flag("with_bias");
          const Indices at = indices(settings, in[0].shape.size(), with_bias);
          return fmt::format("x[{}] dy[{}] -> dw[{}]", at.x, at.y, at.w) +
                 (with_bias ? fmt::format(" db[{}]", at.o) : "");
        },
    .reference =
        [](const Call& call) {
          const Geometry g = weight_geometry(call.settings, types_of(call.in));
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T *x = call.in[0].as<T>(), *dy = call.in[1].as<T>();
            T* dw = call.out[0].as<T>();
            for (const Tensor& out : call.out) clear<T>(out);
            for_each_product(
                g, [&](std::int64_t i, std::int64_t k, std::int64_t o) { dw[k] += x[i] * dy[o]; });
            if (!call.settings.flag("with_bias")) return;
            T* db = call.out[1].as<T>();
            for (std::int64_t i = 0; i < call.in[1].count(); ++i)
              db[i / elements(g.pixels) % g.o] += dy[i];
          });
        },
    .cases =
        [] {
          std::vector<OpCase> all = cases_from(
              [](const ConvolutionCase& size, const Type& x, const Type& w, const Type& y) {
                Settings settings = size.settings;
                settings.set("kernel", spatial_of(w.shape));
                return OpCase{settings, {x, y}};
              });
          OpCase with_bias = all[3];
          with_bias.settings.set("with_bias", true);
          all.push_back(with_bias);
          return all;
        },
};

}  // namespace tutti::ops
