// SPDX-License-Identifier: Apache-2.0
// Images made larger by a whole factor: every pixel repeated, or linear interpolation between the
// centres of pixels, which stops at the outermost ones. Both modes are linear in x, so the operator
// and its gradient are each other's gradient.
#include "tutti/ops/upsample.h"

#include "tutti/ops/shared/traffic.h"
#include "tutti/ops/shared/window.h"

#include <algorithm>
#include <cmath>

namespace tutti::ops {
namespace {

const std::vector<Setting> declared{
    {.name = "factor",
     .initial = std::vector<std::int64_t>{2},
     .doc = "pixels made of one, per spatial dimension; one number holds for all",
     .min = 1},
    {.name = "mode",
     .initial = std::string("nearest"),
     .doc = "repeat pixels (nearest) or interpolate between them (linear)",
     .choices = {"nearest", "linear"}}};

std::int64_t factor_of(const Settings& settings, std::size_t d, std::size_t dimensions) {
  const auto& factors = settings.integers("factor");
  if (factors.size() != 1 && factors.size() != dimensions)
    throw Error("[upsample] 'factor' is {}, expected 1 or {} entries for {} spatial dimensions",
                to_string(SettingValue(factors)), dimensions, dimensions);
  return factors.size() == 1 ? factors[0] : factors[d];
}

// The weight that pixel `small` of the small image has in pixel `large` of the large image.
struct Share {
  std::int64_t large = 0, small = 0;
  double weight = 1;
};

// All weights along one dimension of `extent` small pixels.
std::vector<Share> shares_along(const Settings& settings, std::int64_t extent,
                                std::int64_t factor) {
  std::vector<Share> all;
  for (std::int64_t i = 0; i < extent * factor; ++i) {
    if (settings.text("mode") == "nearest") {
      all.push_back({i, i / factor, 1});
      continue;
    }
    const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(factor) - 0.5;
    const double left = std::floor(at);
    const auto clamped = [&](double k) {
      return std::clamp(static_cast<std::int64_t>(k), std::int64_t{0}, extent - 1);
    };
    all.push_back({i, clamped(left), 1 - (at - left)});
    all.push_back({i, clamped(left + 1), at - left});
  }
  return all;
}

// All weights of a whole image: the products of the weights along its dimensions.
std::vector<Share> shares_of(const Settings& settings, const Shape& spatial) {
  std::vector<Share> all{Share{}};
  for (std::size_t d = 0; d < spatial.size(); ++d) {
    const std::int64_t factor = factor_of(settings, d, spatial.size());
    std::vector<Share> product;
    for (const Share& a : all)
      for (const Share& b : shares_along(settings, spatial[d], factor))
        product.push_back({a.large * spatial[d] * factor + b.large, a.small * spatial[d] + b.small,
                           a.weight * b.weight});
    all = std::move(product);
  }
  return all;
}

// Calls visit(element of the large image, element of the small one, weight).
template <class Visit>
void for_each_share(const Settings& settings, const Shape& small, Visit&& visit) {
  const Shape spatial = spatial_of(small);
  const std::vector<Share> all = shares_of(settings, spatial);
  const std::int64_t pixels = elements(spatial);
  std::int64_t large = pixels;
  for (std::size_t d = 0; d < spatial.size(); ++d) large *= factor_of(settings, d, spatial.size());
  for (std::int64_t plane = 0; plane < small[0] * small[1]; ++plane)
    for (const Share& share : all)
      visit(plane * large + share.large, plane * pixels + share.small, share.weight);
}

Cost cost(const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
  const Type& large = in[0].bytes() > out[0].bytes() ? in[0] : out[0];
  const double taps = settings.text("mode") == "nearest"
                          ? 1
                          : std::pow(2.0, static_cast<double>(large.shape.size() - 2));
  return with_traffic(
      {.work = taps * static_cast<double>(elements(large.shape)), .depth = 1 + std::log2(taps)}, in,
      out);
}

// An index of y is no index of x, so only samples and channels may be split.
std::string sharding(const Settings&, const std::vector<Type>& in) {
  const std::string indices = "n,c," + fixed_indices(in[0].shape.size() - 2);
  return fmt::format("x[{}] -> y[{}]", indices, indices);
}

std::vector<OpCase> cases(bool large) {
  using Integers = std::vector<std::int64_t>;
  std::vector<OpCase> all;
  for (const char* mode : {"nearest", "linear"})
    for (const auto& [factor, small] : {std::pair{Integers{2}, Shape{2, 3, 4, 3}},
                                        {Integers{3, 1}, Shape{1, 2, 2, 3}},
                                        {Integers{2}, Shape{2, 2, 5}},
                                        {Integers{1, 2, 2}, Shape{1, 2, 2, 3, 1}}}) {
      Shape shape = small;
      for (std::size_t d = 2; large && d < shape.size(); ++d)
        shape[d] *= factor.size() == 1 ? factor[0] : factor[d - 2];
      all.push_back({{{"factor", factor}, {"mode", std::string(mode)}}, {{DType::f64, shape}}});
    }
  return all;
}

}  // namespace

const Op upsample{
    .name = "upsample",
    .doc = "an image made larger by a whole factor",
    .settings = declared,
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          check_image("upsample", "x", in.at(0));
          Type y = in[0];
          for (std::size_t d = 2; d < y.shape.size(); ++d)
            y.shape[d] *= factor_of(settings, d - 2, y.shape.size() - 2);
          return std::vector<Type>{y};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(upsample_grad, {dy[0]}, node.settings);
        },
    .cost = cost,
    .sharding = sharding,
    .reference =
        [](const Call& call) {
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T* x = call.in[0].as<T>();
            T* y = call.out[0].as<T>();
            std::fill_n(y, call.out[0].count(), T{0});
            for_each_share(call.settings, call.in[0].shape,
                           [&](std::int64_t large, std::int64_t small, double weight) {
                             y[large] += x[small] * static_cast<T>(weight);
                           });
          });
        },
    .cases = [] { return cases(false); },
    .linear = true,
};

const Op upsample_grad{
    .name = "upsample_grad",
    .doc = "dx of upsample: each pixel gathers its shares of dy",
    .settings = declared,
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          check_image("upsample_grad", "dy", in.at(0));
          Type dx = in[0];
          for (std::size_t d = 2; d < dx.shape.size(); ++d) {
            const std::int64_t factor = factor_of(settings, d - 2, dx.shape.size() - 2);
            if (dx.shape[d] % factor != 0)
              throw Error("[upsample_grad] dy is {}, expected extents divisible by {}",
                          to_string(in[0].shape), to_string(settings.values().at("factor")));
            dx.shape[d] /= factor;
          }
          return std::vector<Type>{dx};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          return graph.add(upsample, {v[0]}, node.settings);
        },
    .cost = cost,
    .sharding = sharding,
    .reference =
        [](const Call& call) {
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T* dy = call.in[0].as<T>();
            T* dx = call.out[0].as<T>();
            std::fill_n(dx, call.out[0].count(), T{0});
            for_each_share(call.settings, call.out[0].shape,
                           [&](std::int64_t large, std::int64_t small, double weight) {
                             dx[small] += dy[large] * static_cast<T>(weight);
                           });
          });
        },
    .cases = [] { return cases(true); },
    .linear = true,
};

}  // namespace tutti::ops
