// SPDX-License-Identifier: Apache-2.0
// Dimensions in another order: dimension d of y is dimension permutation[d] of x.
#include "tutti/ops/transpose.h"

#include "tutti/ops/shared/axis.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tutti::ops {
namespace {

std::vector<Type> infer(const Settings& settings, const std::vector<Type>& in) {
  const Shape& permutation = settings.integers("permutation");
  Shape dimensions(in[0].shape.size());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  if (!std::is_permutation(permutation.begin(), permutation.end(), dimensions.begin(),
                           dimensions.end()))
    throw Error("[transpose] permutation {} of a tensor {}: expected each of 0 to {} once",
                to_string(settings.values().at("permutation")), to_string(in[0].shape),
                static_cast<std::int64_t>(dimensions.size()) - 1);
  Type out{in[0].dtype, {}};
  for (std::int64_t d : permutation) out.shape.push_back(in[0].shape[static_cast<std::size_t>(d)]);
  return {out};
}

std::vector<ValueId> gradient(Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
  const Shape& permutation = node.settings.integers("permutation");
  Shape inverse(permutation.size());
  for (std::size_t d = 0; d < permutation.size(); ++d)
    inverse[static_cast<std::size_t>(permutation[d])] = static_cast<std::int64_t>(d);
  return graph.add(transpose, {dy[0]}, {{"permutation", inverse}});
}

std::string sharding(const Settings& settings, const std::vector<Type>& in) {
  std::string x, y;
  for (std::size_t d = 0; d < in[0].shape.size(); ++d) {
    x += (d > 0 ? "," : "") + std::string(1, static_cast<char>('a' + d));
    y += (d > 0 ? "," : "") +
         std::string(1, static_cast<char>('a' + settings.integers("permutation")[d]));
  }
  return fmt::format("x[{}] -> y[{}]", x, y);
}

void reference(const Call& call) {
  const Shape &from = call.in[0].shape, &to = call.out[0].shape;
  const Shape& permutation = call.settings.integers("permutation");
  Shape strides(from.size());  // strides in x of each dimension of y
  for (std::size_t d = 0; d < strides.size(); ++d) {
    const auto source = static_cast<std::size_t>(permutation[d]);
    strides[d] = elements(from, source + 1, from.size());
  }
  const std::int64_t unit = bytes_of(call.out[0].dtype);
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) {
    std::int64_t rest = i, source = 0;
    for (std::size_t d = to.size(); d-- > 0; rest /= to[d]) source += rest % to[d] * strides[d];
    std::memcpy(call.out[0].as<char>() + i * unit, call.in[0].as<char>() + source * unit,
                static_cast<std::size_t>(unit));
  }
}

}  // namespace

const Op transpose{
    .name = "transpose",
    .doc = "dimension d of y is dimension permutation[d] of x",
    .settings = {{.name = "permutation",
                  .initial = Shape{},
                  .doc = "dimensions of x in their new order",
                  .min = 0,
                  .required = true}},
    .infer = infer,
    .gradient = gradient,
    .cost = cost_movement,
    .sharding = sharding,
    .reference = reference,
    .cases =
        [] {
          return std::vector<OpCase>{
              {{{"permutation", Shape{1, 0}}}, {{DType::f64, {3, 4}}}},
              {{{"permutation", Shape{2, 0, 3, 1}}}, {{DType::f64, {2, 3, 4, 5}}}}};
        },
    .linear = true,
};

}  // namespace tutti::ops
