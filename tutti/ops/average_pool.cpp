// SPDX-License-Identifier: Apache-2.0
// Average pooling (B16): the mean over each window; positions in the padding count only on request.
// It is linear, so it and its gradient are each other's gradient.
#include "tutti/ops/average_pool.h"

#include "tutti/ops/shared/traffic.h"
#include "tutti/ops/shared/window.h"

#include <algorithm>

namespace tutti::ops {
namespace {

// Calls visit(element of y, element of x, weight) for every position that is averaged.
template <class Visit>
void for_each_share(const Settings& settings, const Shape& x, Visit&& visit) {
  const Shape spatial = spatial_of(x);
  const std::vector<Window> windows = pool_windows("average_pool", settings, spatial);
  const std::int64_t image = elements(spatial);
  const std::int64_t pixels = elements(output_extents("average_pool", windows, spatial));
  const std::vector<Tap> all = taps(windows, spatial);
  std::vector<std::int64_t> counted(static_cast<std::size_t>(pixels), settings.flag("count_padding")
                                                                          ? window_elements(windows)
                                                                          : std::int64_t{0});
  if (!settings.flag("count_padding"))
    for (const Tap& tap : all) ++counted[static_cast<std::size_t>(tap.out)];
  for (std::int64_t plane = 0; plane < x[0] * x[1]; ++plane)
    for (const Tap& tap : all)
      visit(plane * pixels + tap.out, plane * image + tap.in,
            1.0 / static_cast<double>(counted[static_cast<std::size_t>(tap.out)]));
}

Cost pool_cost(const Settings& settings, const Type& x, const Type& y, double depth) {
  const auto windows = pool_windows("average_pool", settings, spatial_of(x.shape));
  return {.work = static_cast<double>(elements(y.shape) * window_elements(windows)),
          .depth = depth};
}

// Whether an image may be split. Where the padding does not count, windows at the border divide by
// fewer elements, and a part would take its own edge for the border.
bool splittable(const Settings& settings) {
  const auto& padding = settings.integers("padding");
  return !settings.flag("global") && !settings.flag("ceil") &&
         (settings.flag("count_padding") ||
          std::all_of(padding.begin(), padding.end(), [](std::int64_t p) { return p == 0; }));
}
std::string y_indices(const Settings& settings, std::size_t rank) {
  return "n,c," + (splittable(settings) ? output_indices(rank - 2) : fixed_indices(rank - 2));
}
std::string x_indices(const Settings& settings, std::size_t rank) {
  return "n,c," + (splittable(settings) ? window_indices(rank - 2) : fixed_indices(rank - 2));
}

std::vector<Setting> forward_settings() {
  std::vector<Setting> all = pool_settings();
  all.push_back({.name = "count_padding",
                 .initial = false,
                 .doc = "divide by the whole window at the border too"});
  return all;
}

std::vector<Setting> grad_settings() {
  std::vector<Setting> all = forward_settings();
  all.push_back(spatial_setting());
  return all;
}

std::vector<OpCase> forward_cases() {
  using Integers = std::vector<std::int64_t>;
  const auto image = [](Shape shape) { return std::vector<Type>{{DType::f64, std::move(shape)}}; };
  return {
      {{{"kernel", Integers{2}}}, image({2, 3, 7})},
      {{{"kernel", Integers{2}}}, image({2, 3, 4, 6})},
      {{{"kernel", Integers{3, 2}}, {"stride", Integers{2, 1}}}, image({2, 2, 7, 5})},
      {{{"kernel", Integers{3}}, {"stride", Integers{2}}, {"padding", Integers{1}}},
       image({2, 2, 6, 7})},
      {{{"kernel", Integers{3}},
        {"stride", Integers{2}},
        {"padding", Integers{1}},
        {"count_padding", true}},
       image({2, 2, 6, 7})},
      {{{"kernel", Integers{3}}, {"stride", Integers{2}}, {"ceil", true}}, image({2, 4, 6, 7})},
      {{{"kernel", Integers{2, 1, 2}}, {"padding", Integers{1, 0, 0}}}, image({1, 2, 4, 2, 5})},
      {{{"global", true}}, image({2, 3, 3, 5})},
  };
}

}  // namespace

const Op average_pool{
    .name = "average_pool",
    .doc = "mean of each window",
    .settings = forward_settings(),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          return std::vector<Type>{pooled_type("average_pool", settings, in.at(0))};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          Settings settings = node.settings;
          settings.set("spatial", spatial_of(graph.shape(node.inputs[0])));
          return graph.add(average_pool_grad, {dy[0]}, settings);
        },
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          double depth = 1;  // the division
          for (const Window& window :
               pool_windows("average_pool", settings, spatial_of(in[0].shape)))
            depth += log2_ceiling(window.kernel);
          return with_traffic(pool_cost(settings, in[0], out[0], depth), in, out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::size_t rank = in[0].shape.size();
          return fmt::format("x[{}] -> y[{}]", x_indices(settings, rank),
                             y_indices(settings, rank));
        },
    .reference =
        [](const Call& call) {
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T* x = call.in[0].as<T>();
            T* y = call.out[0].as<T>();
            std::fill_n(y, call.out[0].count(), T{0});
            for_each_share(call.settings, call.in[0].shape,
                           [&](std::int64_t out, std::int64_t in, double weight) {
                             y[out] += x[in] * static_cast<T>(weight);
                           });
          });
        },
    .cases = forward_cases,
};

const Op average_pool_grad{
    .name = "average_pool_grad",
    .doc = "dx of average_pool: each dy is spread evenly over its window",
    .settings = grad_settings(),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          return std::vector<Type>{unpooled_type("average_pool_grad", settings, in.at(0))};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& ddx) {
          return graph.add(average_pool, {ddx[0]}, settings_for(average_pool, node.settings));
        },
    // Where windows overlap, an element of dx gets at most one summand per window position.
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          double depth = 1;
          for (const Window& window :
               pool_windows("average_pool_grad", settings, spatial_of(out[0].shape)))
            depth += log2_ceiling((window.kernel + window.stride - 1) / window.stride);
          return with_traffic(pool_cost(settings, out[0], in[0], depth), in, out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::size_t rank = in[0].shape.size();
          return fmt::format("dy[{}] -> dx[{}]", y_indices(settings, rank),
                             x_indices(settings, rank));
        },
    .reference =
        [](const Call& call) {
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T* dy = call.in[0].as<T>();
            T* dx = call.out[0].as<T>();
            std::fill_n(dx, call.out[0].count(), T{0});
            for_each_share(call.settings, call.out[0].shape,
                           [&](std::int64_t out, std::int64_t in, double weight) {
                             dx[in] += dy[out] * static_cast<T>(weight);
                           });
          });
        },
    .cases =
        [] {
          std::vector<OpCase> all = forward_cases();
          for (OpCase& size : all) {
            const Settings forward =
                resolve(average_pool.settings, size.settings, "[average_pool]");
            size.settings.set("spatial", spatial_of(size.in[0].shape));
            size.in = {pooled_type("average_pool", forward, size.in[0])};
          }
          return all;
        },
};

}  // namespace tutti::ops
