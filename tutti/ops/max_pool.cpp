// SPDX-License-Identifier: Apache-2.0
// Max pooling (B16). The second output says which position of each window won (row-major, padding
// counted, the first of equals), so max_pool_grad needs neither input nor output: each dy goes to
// exactly one element of its window. max_pool_gather, its adjoint, reads the same elements.
#include "tutti/ops/max_pool.h"

#include "tutti/ops/shared/traffic.h"
#include "tutti/ops/shared/window.h"

#include <algorithm>

namespace tutti::ops {
namespace {

// Throws unless `index` has the type that max_pool returns for an image of these extents.
void check_index(const char* name, const Settings& settings, const Shape& spatial, const Shape& y,
                 const Type& index) {
  const DType expected = pool_index_type(window_elements(pool_windows(name, settings, spatial)));
  if (index != Type{expected, y})
    throw Error("[{}] index is {} {}, expected {} {} as max_pool returns it", name,
                name_of(index.dtype), to_string(index.shape), name_of(expected), to_string(y));
}

// Calls visit(window, element of the image) for each window whose winner is not in the padding.
template <class Visit>
void for_each_winner(const std::vector<Window>& windows, const Shape& x, const Tensor& index,
                     Visit&& visit) {
  const Shape spatial = spatial_of(x);
  const std::int64_t image = elements(spatial), planes = x[0] * x[1];
  const std::int64_t pixels = index.count() / planes;
  const auto winner = [&](std::int64_t i) {
    return index.dtype == DType::u8 ? std::int64_t{index.as<std::uint8_t>()[i]}
                                    : std::int64_t{index.as<std::int32_t>()[i]};
  };
  for (const Tap& tap : taps(windows, spatial))
    for (std::int64_t plane = 0; plane < planes; ++plane)
      if (winner(plane * pixels + tap.out) == tap.kernel)
        visit(plane * pixels + tap.out, plane * image + tap.in);
}

template <class T, class Index>
void pool_maximum(const Call& call, const std::vector<Tap>& all) {
  const std::int64_t image = elements(spatial_of(call.in[0].shape));
  const std::int64_t pixels = elements(spatial_of(call.out[0].shape));
  for (std::int64_t plane = 0; plane < call.in[0].count() / image; ++plane) {
    const T* x = call.in[0].as<T>() + plane * image;
    T* y = call.out[0].as<T>() + plane * pixels;
    Index* index = call.out[1].as<Index>() + plane * pixels;
    for (std::size_t t = 0; t < all.size(); ++t) {
      const Tap& tap = all[t];
      const bool first = t == 0 || all[t - 1].out != tap.out;
      if (!first && !(x[tap.in] > y[tap.out])) continue;
      y[tap.out] = x[tap.in];
      index[tap.out] = static_cast<Index>(tap.kernel);
    }
  }
}

// Whether an image may be split. It may not where one global window covers it, nor where only its
// last part would have a window that hangs over the edge.
bool splittable(const Settings& settings) {
  return !settings.flag("global") && !settings.flag("ceil");
}

// "n,c,h,w" and "n,c,h+k,w+l" where the image may be split.
std::string y_indices(const Settings& settings, std::size_t rank) {
  return "n,c," + (splittable(settings) ? output_indices(rank - 2) : fixed_indices(rank - 2));
}
std::string x_indices(const Settings& settings, std::size_t rank) {
  return "n,c," + (splittable(settings) ? window_indices(rank - 2) : fixed_indices(rank - 2));
}

std::vector<Setting> grad_settings() {
  std::vector<Setting> all = pool_settings();
  all.push_back(spatial_setting());
  return all;
}

// Cases of one of the three operators; `make` picks its inputs from the types of x and y.
template <class Make>
std::vector<OpCase> cases_from(Make&& make) {
  using Integers = std::vector<std::int64_t>;
  const std::vector<std::pair<Settings, Shape>> sizes{
      {{{"kernel", Integers{2}}}, {2, 3, 7}},
      {{{"kernel", Integers{2}}}, {2, 3, 4, 6}},
      {{{"kernel", Integers{3, 2}}, {"stride", Integers{2, 1}}}, {2, 2, 7, 5}},
      {{{"kernel", Integers{3}}, {"stride", Integers{2}}, {"padding", Integers{1}}}, {2, 2, 6, 7}},
      {{{"kernel", Integers{3}}, {"stride", Integers{2}}, {"ceil", true}}, {2, 4, 6, 7}},
      {{{"kernel", Integers{2, 1, 2}}, {"padding", Integers{1, 0, 0}}}, {1, 2, 4, 2, 5}},
      {{{"global", true}}, {2, 3, 3, 5}},
      {{{"kernel", Integers{17}}, {"stride", Integers{1}}}, {1, 1, 18, 18}},
  };
  std::vector<OpCase> all;
  for (const auto& [settings, shape] : sizes) {
    const Type x{DType::f64, shape};
    const Settings resolved = resolve(max_pool.settings, settings, "[max_pool]");
    const std::vector<Type> out = max_pool.infer(resolved, {x});
    all.push_back(make(settings, x, out[0], out[1]));
    all.back().classes = window_elements(pool_windows("max_pool", resolved, spatial_of(shape)));
  }
  return all;
}

}  // namespace

DType pool_index_type(std::int64_t window_elements) {
  return window_elements <= 255 ? DType::u8 : DType::i32;
}

const Op max_pool{
    .name = "max_pool",
    .doc = "largest value of each window, and its position in the window",
    .settings = pool_settings(),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Type y = pooled_type("max_pool", settings, in.at(0));
          const auto windows = pool_windows("max_pool", settings, spatial_of(in[0].shape));
          return std::vector<Type>{y, {pool_index_type(window_elements(windows)), y.shape}};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          if (dy[0] == no_value) return std::vector<ValueId>{no_value};
          Settings settings = node.settings;
          settings.set("spatial", spatial_of(graph.shape(node.inputs[0])));
          return graph.add(max_pool_grad, {dy[0], node.outputs[1]}, settings);
        },
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          const Shape spatial = spatial_of(in[0].shape);
          const auto windows = pool_windows("max_pool", settings, spatial);
          double depth = 0;
          for (const Window& window : windows) depth += log2_ceiling(window.kernel);
          return with_traffic({.work = static_cast<double>(elements(out[0].shape)) *
                                       static_cast<double>(window_elements(windows)),
                               .depth = depth},
                              in, out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::size_t rank = in[0].shape.size();
          const std::string y = y_indices(settings, rank);
          return fmt::format("x[{}] -> y[{}] index[{}]", x_indices(settings, rank), y, y);
        },
    .reference =
        [](const Call& call) {
          const Shape spatial = spatial_of(call.in[0].shape);
          const auto all = taps(pool_windows("max_pool", call.settings, spatial), spatial);
          dispatch_float(call.in[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            if (call.out[1].dtype == DType::u8)
              pool_maximum<T, std::uint8_t>(call, all);
            else
              pool_maximum<T, std::int32_t>(call, all);
          });
        },
    .cases =
        [] {
          return cases_from([](const Settings& settings, const Type& x, const Type&, const Type&) {
            return OpCase{settings, {x}};
          });
        },
};

const Op max_pool_grad{
    .name = "max_pool_grad",
    .doc = "dx of max_pool: each dy goes to the winner of its window",
    .settings = grad_settings(),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Type x = unpooled_type("max_pool_grad", settings, in.at(0));
          check_index("max_pool_grad", settings, spatial_of(x.shape), in[0].shape, in.at(1));
          return std::vector<Type>{x};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& ddx) {
          return std::vector<ValueId>{graph.add1(max_pool_gather, {ddx[0], node.inputs[1]},
                                                 settings_for(max_pool_gather, node.settings)),
                                      no_value};
        },
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          return with_traffic({.work = static_cast<double>(elements(in[0].shape)), .depth = 1}, in,
                              out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::size_t rank = in[0].shape.size();
          const std::string y = y_indices(settings, rank);
          return fmt::format("dy[{}] index[{}] -> dx[{}]", y, y, x_indices(settings, rank));
        },
    .reference =
        [](const Call& call) {
          const Shape& x = call.out[0].shape;
          const auto windows = pool_windows("max_pool_grad", call.settings, spatial_of(x));
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T* dy = call.in[0].as<T>();
            T* dx = call.out[0].as<T>();
            std::fill_n(dx, call.out[0].count(), T{0});
            for_each_winner(windows, x, call.in[1],
                            [&](std::int64_t out, std::int64_t in) { dx[in] += dy[out]; });
          });
        },
    .cases =
        [] {
          return cases_from([](Settings settings, const Type& x, const Type& y, const Type& index) {
            settings.set("spatial", spatial_of(x.shape));
            return OpCase{settings, {y, index}};
          });
        },
};

const Op max_pool_gather{
    .name = "max_pool_gather",
    .doc = "the values of an image at the winners of max_pool",
    .settings = pool_settings(),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Type y = pooled_type("max_pool_gather", settings, in.at(0));
          check_index("max_pool_gather", settings, spatial_of(in[0].shape), y.shape, in.at(1));
          return std::vector<Type>{y};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          Settings settings = node.settings;
          settings.set("spatial", spatial_of(graph.shape(node.inputs[0])));
          return std::vector<ValueId>{graph.add1(max_pool_grad, {dy[0], node.inputs[1]}, settings),
                                      no_value};
        },
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          return with_traffic({.work = static_cast<double>(elements(out[0].shape)), .depth = 1}, in,
                              out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::size_t rank = in[0].shape.size();
          const std::string y = y_indices(settings, rank);
          return fmt::format("v[{}] index[{}] -> y[{}]", x_indices(settings, rank), y, y);
        },
    .reference =
        [](const Call& call) {
          const Shape& x = call.in[0].shape;
          const auto windows = pool_windows("max_pool_gather", call.settings, spatial_of(x));
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T* v = call.in[0].as<T>();
            T* y = call.out[0].as<T>();
            std::fill_n(y, call.out[0].count(), T{0});
            for_each_winner(windows, x, call.in[1],
                            [&](std::int64_t out, std::int64_t in) { y[out] = v[in]; });
          });
        },
    .cases =
        [] {
          return cases_from(
              [](const Settings& settings, const Type& x, const Type&, const Type& index) {
                return OpCase{settings, {x, index}};
              });
        },
};

}  // namespace tutti::ops
