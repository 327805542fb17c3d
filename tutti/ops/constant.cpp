// SPDX-License-Identifier: Apache-2.0
// A tensor filled with one value: the seed of the backward pass, the gradient of an unused
// parameter, a state that begins anew. It may take its number of rows from another tensor.
#include "tutti/ops/constant.h"

#include <algorithm>

namespace tutti::ops {
namespace {

std::vector<Type> infer(const Settings& settings, const std::vector<Type>& in) {
  Shape shape = settings.integers("shape");
  const bool by_rows = !shape.empty() && shape[0] == -1;
  if (by_rows != !in.empty())
    throw Error(
        "[constant] shape is {}, expected a first extent of -1 where rows are as many as "
        "another tensor's, and only there",
        to_string(settings.values().at("shape")));
  if (by_rows) shape[0] = in[0].shape.at(0);
  return {{dtype_named(settings.text("dtype")), shape}};
}

// "like[n,*] -> y[n,*,*]", or "-> y[*,*]".
std::string sharding(const Settings& settings, const std::vector<Type>& in) {
  const auto indices = [&](const Shape& shape) {
    std::string text;
    for (std::size_t d = 0; d < shape.size(); ++d) text += d > 0 ? ",*" : in.empty() ? "*" : "n";
    return text;
  };
  const std::string y = indices(settings.integers("shape"));
  return in.empty() ? fmt::format("-> y[{}]", y)
                    : fmt::format("like[{}] -> y[{}]", indices(in[0].shape), y);
}

}  // namespace

const Op constant{
    .name = "constant",
    .doc = "y = value everywhere",
    .settings = {{.name = "shape",
                  .initial = Shape{},
                  .doc = "extents; empty for a scalar; -1 first: as many rows as the input has",
                  .min = -1},
                 {.name = "value", .initial = 1.0, .doc = "the value"},
                 {.name = "dtype", .initial = std::string("f32"), .doc = "element type"}},
    .infer = infer,
    .gradient =
        [](Graph&, const Node& node, const std::vector<ValueId>&) {
          return std::vector<ValueId>(node.inputs.size(), no_value);
        },
    .cost =
        [](const Settings&, const std::vector<Type>&, const std::vector<Type>& out) {
          return Cost{.depth = 1, .bytes_written = static_cast<double>(out[0].bytes())};
        },
    .sharding = sharding,
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
          const std::string f64 = "f64";
          return std::vector<OpCase>{
              {{{"shape", Shape{2, 3}}, {"dtype", f64}}, {}},
              {{{"shape", Shape{-1, 3}}, {"dtype", f64}}, {{DType::f64, {4, 2, 5}}}}};
        },
};

}  // namespace tutti::ops
