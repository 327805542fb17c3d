// SPDX-License-Identifier: Apache-2.0
// A tensor filled with one value: the seed of the backward pass, the gradient of an unused
// parameter.
#include "tutti/ops/constant.h"

#include <algorithm>

namespace tutti::ops {

const Op constant{
    .name = "constant",
    .doc = "y = value everywhere",
    .settings =
        {{.name = "shape", .initial = Shape{}, .doc = "extents; empty for a scalar", .min = 0},
         {.name = "value", .initial = 1.0, .doc = "the value"},
         {.name = "dtype", .initial = std::string("f32"), .doc = "element type"}},
    .infer =
        [](const Settings& settings, const std::vector<Type>&) {
          return std::vector<Type>{
              {dtype_named(settings.text("dtype")), settings.integers("shape")}};
        },
    .gradient = [](Graph&, const Node&,
                   const std::vector<ValueId>&) { return std::vector<ValueId>{}; },
    .cost =
        [](const Settings&, const std::vector<Type>&, const std::vector<Type>& out) {
          return Cost{.depth = 1, .bytes_written = static_cast<double>(out[0].bytes())};
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>&) {
          std::string rule = "-> y[";
          for (std::size_t d = 0; d < settings.integers("shape").size(); ++d)
            rule += d > 0 ? ",*" : "*";
          return rule + "]";
        },
    .reference =
        [](const Call& call) {
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            std::fill_n(call.out[0].as<T>(), call.out[0].count(),
                        static_cast<T>(call.settings.real("value")));
          });
        },
    .cases =
        [] {
          return std::vector<OpCase>{{{{"shape", Shape{2, 3}}, {"dtype", std::string("f64")}}, {}}};
        },
};

}  // namespace tutti::ops
