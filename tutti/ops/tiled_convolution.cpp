// SPDX-License-Identifier: Apache-2.0
// Convolution whose weights differ from position to position and repeat with a period (B29): a
// period of 1 makes a convolution, a period of the whole image a locally connected layer. As for
// convolution, the operator and its two gradients collect one sum of products in different tensors.
#include "tutti/ops/tiled_convolution.h"

#include "tutti/ops/shared/convolution_geometry.h"
#include "tutti/ops/shared/traffic.h"

#include <algorithm>

namespace tutti::ops {
namespace {

std::vector<Setting> settings_with(std::vector<Setting> more) {
  std::vector<Setting> all = convolution_settings();
  all.push_back({.name = "period",
                 .initial = std::vector<std::int64_t>{0},
                 .doc = "positions after which weights repeat, per spatial dimension; 0: never",
                 .min = 0});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// The period along dimension d, or the extent of the output where that is shorter.
std::int64_t period_of(const Settings& settings, std::size_t d, const Shape& pixels) {
  const auto& periods = settings.integers("period");
  if (periods.size() != 1 && periods.size() != pixels.size())
    throw Error("[tiled_convolution] 'period' is {}, expected 1 or {} entries",
                to_string(SettingValue(periods)), pixels.size());
  const std::int64_t period = periods.size() == 1 ? periods[0] : periods[d];
  return period == 0 ? pixels[d] : std::min(period, pixels[d]);
}

// The tile of every output position.
std::vector<std::int64_t> tile_of_pixels(const Settings& settings, const Shape& pixels) {
  std::vector<std::int64_t> tiles;
  for (std::int64_t p = 0; p < elements(pixels); ++p) {
    std::int64_t rest = p, tile = 0, step = 1;
    for (std::size_t d = pixels.size(); d-- > 0; rest /= pixels[d]) {
      const std::int64_t period = period_of(settings, d, pixels);
      tile += rest % pixels[d] % period * step;
      step *= period;
    }
    tiles.push_back(tile);
  }
  return tiles;
}

// The type of the weights of one tile.
Type one_tile(const Type& w) {
  if (w.shape.size() < 4)
    throw Error("[tiled_convolution] w is {}, expected [tile, o, c, 1 to 3 extents]",
                to_string(w.shape));
  return {w.dtype, Shape(w.shape.begin() + 1, w.shape.end())};
}

void check_tiles(const Settings& settings, const Type& w, const Shape& pixels) {
  if (const std::int64_t tiles = tiles_of(settings, pixels); w.shape[0] != tiles)
    throw Error("[tiled_convolution] w has {} tiles, expected {} for outputs of {}", w.shape[0],
                tiles, to_string(pixels));
}

Geometry forward(const Settings& settings, const std::vector<Type>& in) {
  const Geometry g = forward_geometry(settings, {in.at(0), one_tile(in.at(1))});
  check_tiles(settings, in[1], g.pixels);
  return g;
}
Geometry for_input(const Settings& settings, const std::vector<Type>& in) {
  const Geometry g = input_geometry(settings, {in.at(0), one_tile(in.at(1))});
  check_tiles(settings, in[1], g.pixels);
  return g;
}

// Calls product(x index, w index, y index) for every multiply–add that does not read the padding.
template <class Product>
void for_each_tiled_product(const Settings& settings, const Geometry& g, Product&& product) {
  const std::vector<std::int64_t> tile = tile_of_pixels(settings, g.pixels);
  const std::int64_t pixels = elements(g.pixels);
  const std::int64_t tile_elements = g.o * g.c / g.groups * elements(g.kernel);
  for_each_product(g, [&](std::int64_t x, std::int64_t w, std::int64_t y) {
    product(x, tile[static_cast<std::size_t>(y % pixels)] * tile_elements + w, y);
  });
}

Settings input_settings(const Settings& settings, const Shape& x) {
  Settings all = settings_for(tiled_convolution_grad_input, settings);
  all.set("spatial", spatial_of(x));
  return all;
}

Settings weight_settings(const Settings& settings, const Shape& w) {
  Settings all = settings_for(tiled_convolution_grad_weight, settings);
  all.set("kernel", Shape(w.begin() + 3, w.end()));
  return all;
}

// Index notation of the three tensors. Positions may not be split, as each belongs to its tile.
// Samples may be split, and channels unless they are grouped.
struct Indices {
  std::string x, w, y;
};
Indices indices(const Settings& settings, std::size_t rank) {
  const bool grouped = settings.integer("groups") > 1;
  const std::string c = grouped ? "*" : "c", o = grouped ? "*" : "o";
  const std::string fixed = fixed_indices(rank - 2);
  return {"n," + c + "," + fixed, "*," + o + "," + c + "," + fixed, "n," + o + "," + fixed};
}

template <class Make>
std::vector<OpCase> cases_from(Make&& make) {
  using Integers = std::vector<std::int64_t>;
  const struct {
    Settings settings;
    Shape x, kernel;  // kernel: [o, c, …]
  } sizes[] = {
      {{{"period", Integers{0}}}, {2, 2, 4, 5}, {3, 2, 2, 3}},
      {{{"period", Integers{2}}, {"padding", Integers{1}}}, {2, 2, 4, 3}, {3, 2, 3, 3}},
      {{{"period", Integers{1, 2}}, {"stride", Integers{2}}}, {1, 2, 5, 7}, {2, 2, 3, 3}},
      {{{"period", Integers{3}}, {"groups", std::int64_t{2}}}, {2, 4, 6}, {2, 2, 2}},
  };
  std::vector<OpCase> all;
  for (const auto& size : sizes) {
    const Settings settings = resolve(tiled_convolution.settings, size.settings, "[tiled]");
    const Geometry g =
        forward_geometry(settings, {{DType::f64, size.x}, {DType::f64, size.kernel}});
    Shape w = size.kernel;
    w.insert(w.begin(), tiles_of(settings, g.pixels));
    all.push_back(make(size.settings, Type{DType::f64, size.x}, Type{DType::f64, w},
                       image_type(DType::f64, g.n, g.o, g.pixels)));
  }
  return all;
}

}  // namespace

std::int64_t tiles_of(const Settings& settings, const Shape& pixels) {
  std::int64_t tiles = 1;
  for (std::size_t d = 0; d < pixels.size(); ++d) tiles *= period_of(settings, d, pixels);
  return tiles;
}

const Op tiled_convolution{
    .name = "tiled_convolution",
    .doc = "convolution with weights that repeat only after a period of positions",
    .settings = settings_with({}),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Geometry g = forward(settings, in);
          return std::vector<Type>{image_type(in[0].dtype, g.n, g.o, g.pixels)};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          const Settings settings = node.settings;
          const ValueId x = node.inputs[0], w = node.inputs[1];
          const ValueId dx = graph.add1(tiled_convolution_grad_input, {dy[0], w},
                                        input_settings(settings, graph.shape(x)));
          const ValueId dw = graph.add1(tiled_convolution_grad_weight, {x, dy[0]},
                                        weight_settings(settings, graph.shape(w)));
          return std::vector<ValueId>{dx, dw};
        },
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          const Geometry g = forward(settings, in);
          return with_traffic(
              products_cost(g, reduction_depth({g.c / g.groups}) + reduction_depth(g.kernel)), in,
              out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Indices at = indices(settings, in[0].shape.size());
          return fmt::format("x[{}] w[{}] -> y[{}]", at.x, at.w, at.y);
        },
    .reference =
        [](const Call& call) {
          const Geometry g = forward(call.settings, types_of(call.in));
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T *x = call.in[0].as<T>(), *w = call.in[1].as<T>();
            T* y = call.out[0].as<T>();
            std::fill_n(y, call.out[0].count(), T{0});
            for_each_tiled_product(
                call.settings, g,
                [&](std::int64_t i, std::int64_t k, std::int64_t o) { y[o] += x[i] * w[k]; });
          });
        },
    .cases =
        [] {
          return cases_from(
              [](const Settings& settings, const Type& x, const Type& w, const Type&) {
                return OpCase{settings, {x, w}};
              });
        },
};

const Op tiled_convolution_grad_input{
    .name = "tiled_convolution_grad_input",
    .doc = "dx of tiled_convolution from dy and w",
    .settings = settings_with({spatial_setting()}),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Geometry g = for_input(settings, in);
          return std::vector<Type>{image_type(in[0].dtype, g.n, g.c, g.image)};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          const Settings settings = node.settings;
          const ValueId dy = node.inputs[0], w = node.inputs[1];
          const ValueId to_dy =
              graph.add1(tiled_convolution, {v[0], w}, settings_for(tiled_convolution, settings));
          const ValueId to_w = graph.add1(tiled_convolution_grad_weight, {v[0], dy},
                                          weight_settings(settings, graph.shape(w)));
          return std::vector<ValueId>{to_dy, to_w};
        },
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          const Geometry g = for_input(settings, in);
          return with_traffic(
              products_cost(g, reduction_depth({g.o / g.groups}) + reduction_depth(g.kernel)), in,
              out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Indices at = indices(settings, in[0].shape.size());
          return fmt::format("dy[{}] w[{}] -> dx[{}]", at.y, at.w, at.x);
        },
    .reference =
        [](const Call& call) {
          const Geometry g = for_input(call.settings, types_of(call.in));
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T *dy = call.in[0].as<T>(), *w = call.in[1].as<T>();
            T* dx = call.out[0].as<T>();
            std::fill_n(dx, call.out[0].count(), T{0});
            for_each_tiled_product(
                call.settings, g,
                [&](std::int64_t i, std::int64_t k, std::int64_t o) { dx[i] += dy[o] * w[k]; });
          });
        },
    .cases =
        [] {
          return cases_from([](Settings settings, const Type& x, const Type& w, const Type& y) {
            settings.set("spatial", spatial_of(x.shape));
            return OpCase{settings, {y, w}};
          });
        },
};

const Op tiled_convolution_grad_weight{
    .name = "tiled_convolution_grad_weight",
    .doc = "dw of tiled_convolution from x and dy",
    .settings = settings_with({kernel_setting()}),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Geometry g = weight_geometry(settings, in);
          Type w = image_type(in[0].dtype, g.o, g.c / g.groups, g.kernel);
          w.shape.insert(w.shape.begin(), tiles_of(settings, g.pixels));
          return std::vector<Type>{w};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          const Settings settings = node.settings;
          const ValueId x = node.inputs[0], dy = node.inputs[1];
          const ValueId to_x = graph.add1(tiled_convolution_grad_input, {dy, v[0]},
                                          input_settings(settings, graph.shape(x)));
          const ValueId to_dy =
              graph.add1(tiled_convolution, {x, v[0]}, settings_for(tiled_convolution, settings));
          return std::vector<ValueId>{to_x, to_dy};
        },
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          const Geometry g = weight_geometry(settings, in);
          const std::int64_t shared = elements(g.pixels) / out[0].shape[0];
          return with_traffic(products_cost(g, reduction_depth({g.n}) + log2_ceiling(shared + 1)),
                              in, out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Indices at = indices(settings, in[0].shape.size());
          return fmt::format("x[{}] dy[{}] -> dw[{}]", at.x, at.y, at.w);
        },
    .reference =
        [](const Call& call) {
          const Geometry g = weight_geometry(call.settings, types_of(call.in));
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T *x = call.in[0].as<T>(), *dy = call.in[1].as<T>();
            T* dw = call.out[0].as<T>();
            std::fill_n(dw, call.out[0].count(), T{0});
            for_each_tiled_product(
                call.settings, g,
                [&](std::int64_t i, std::int64_t k, std::int64_t o) { dw[k] += x[i] * dy[o]; });
          });
        },
    .cases =
        [] {
          return cases_from([](Settings settings, const Type& x, const Type& w, const Type& y) {
            settings.set("kernel", Shape(w.shape.begin() + 3, w.shape.end()));
            return OpCase{settings, {x, y}};
          });
        },
};

}  // namespace tutti::ops
