// SPDX-License-Identifier: Apache-2.0
// Tensors laid one after the other along an axis. The gradient cuts dy apart again.
#include "tutti/ops/concatenate.h"

#include "tutti/ops/shared/axis.h"
#include "tutti/ops/slice.h"

#include <cstring>

namespace tutti::ops {
namespace {

std::vector<Type> infer(const Settings& settings, const std::vector<Type>& in) {
  check(!in.empty(), "concatenate has an input");
  Type out = in[0];
  const std::size_t axis = axis_of("concatenate", settings, out.shape);
  for (std::size_t i = 1; i < in.size(); ++i) {
    Type fitted = in[i];
    if (fitted.shape.size() == out.shape.size()) fitted.shape[axis] = in[0].shape[axis];
    if (!(fitted == in[0]))
      throw Error("[concatenate] input {} is {} {}, expected {} {} in all but axis {}", i,
                  name_of(in[i].dtype), to_string(in[i].shape), name_of(in[0].dtype),
                  to_string(in[0].shape), axis);
    out.shape[axis] += in[i].shape[axis];
  }
  return {out};
}

std::vector<ValueId> gradient(Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
  const std::vector<ValueId> inputs = node.inputs;
  const std::size_t axis = axis_of("concatenate", node.settings, graph.shape(inputs[0]));
  std::vector<ValueId> dx;
  std::int64_t begin = 0;
  for (ValueId x : inputs) {
    const std::int64_t end = begin + graph.shape(x)[axis];
    dx.push_back(
        graph.add1(slice, {dy[0]},
                   {{"axis", static_cast<std::int64_t>(axis)}, {"begin", begin}, {"end", end}}));
    begin = end;
  }
  return dx;
}

void reference(const Call& call) {
  const Tensor& y = call.out[0];
  const std::size_t axis = axis_of("concatenate", call.settings, y.shape);
  const AxisView whole = view_along(y.shape, axis);
  const std::int64_t y_bytes = whole.extent * whole.inner * bytes_of(y.dtype);
  char* to = y.as<char>();
  for (const Tensor& x : call.in) {
    const std::int64_t x_bytes = x.shape[axis] * whole.inner * bytes_of(x.dtype);
    for (std::int64_t o = 0; o < whole.outer; ++o)
      std::memcpy(to + o * y_bytes, x.as<char>() + o * x_bytes, static_cast<std::size_t>(x_bytes));
    to += x_bytes;
  }
}

}  // namespace

const Op concatenate{
    .name = "concatenate",
    .doc = "the inputs one after the other along an axis",
    .settings = {{.name = "axis", .initial = std::int64_t{1}, .doc = "dimension that grows"}},
    .infer = infer,
    .gradient = gradient,
    .cost = cost_movement,
    .sharding = sharding_along,
    .reference = reference,
    .cases =
        [] {
          const Type a{DType::f64, {2, 3, 4}}, b{DType::f64, {2, 1, 4}}, c{DType::f64, {2, 3, 2}};
          return std::vector<OpCase>{
              {{}, {a}}, {{}, {a, b, a}}, {{{"axis", std::int64_t{-1}}}, {a, c}}};
        },
    .linear = true,
};

}  // namespace tutti::ops
