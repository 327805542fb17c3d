// SPDX-License-Identifier: Apache-2.0
// The elements [begin, end) of a tensor along an axis; and its adjoint, which lays such a slice
// into zeros.
#include "tutti/ops/slice.h"

#include "tutti/ops/shared/axis.h"

#include <cstring>

namespace tutti::ops {
namespace {

const Setting axis_setting{
    .name = "axis", .initial = std::int64_t{1}, .doc = "dimension that is cut"};
const Setting begin_setting{
    .name = "begin", .initial = std::int64_t{0}, .doc = "first index of the part", .min = 0};

void check_part(const char* name, std::int64_t begin, std::int64_t end, std::int64_t extent) {
  if (begin > end || end > extent)
    throw Error("[{}] the part [{}, {}) does not lie in an axis of {}: expected begin ≤ end ≤ {}",
                name, begin, end, extent, extent);
}

std::vector<Type> infer_slice(const Settings& settings, const std::vector<Type>& in) {
  Type out = in[0];
  const std::size_t axis = axis_of("slice", settings, out.shape);
  const std::int64_t begin = settings.integer("begin"), end = settings.integer("end");
  check_part("slice", begin, end, out.shape[axis]);
  out.shape[axis] = end - begin;
  return {out};
}

std::vector<Type> infer_slice_grad(const Settings& settings, const std::vector<Type>& in) {
  Type out = in[0];
  const std::size_t axis = axis_of("slice_grad", settings, out.shape);
  const std::int64_t begin = settings.integer("begin"), extent = settings.integer("extent");
  check_part("slice_grad", begin, begin + out.shape[axis], extent);
  out.shape[axis] = extent;
  return {out};
}

std::vector<ValueId> gradient_of_slice(Graph& graph, const Node& node,
                                       const std::vector<ValueId>& dy) {
  const Shape& shape = graph.shape(node.inputs[0]);
  return graph.add(slice_grad, {dy[0]},
                   {{"axis", node.settings.integer("axis")},
                    {"begin", node.settings.integer("begin")},
                    {"extent", shape[axis_of("slice", node.settings, shape)]}});
}

std::vector<ValueId> gradient_of_slice_grad(Graph& graph, const Node& node,
                                            const std::vector<ValueId>& dy) {
  const Shape& part = graph.shape(node.inputs[0]);
  const std::int64_t begin = node.settings.integer("begin");
  const std::int64_t end = begin + part[axis_of("slice_grad", node.settings, part)];
  return graph.add(slice, {dy[0]},
                   {{"axis", node.settings.integer("axis")}, {"begin", begin}, {"end", end}});
}

// Bytes to copy between a slice and the whole tensor in which it begins at `begin` along the axis.
struct Strides {
  std::int64_t rows, whole_bytes, part_bytes, begin_bytes;
};

Strides strides_of(const Call& call, const Tensor& whole, const Tensor& part) {
  const std::size_t axis = axis_of("slice", call.settings, whole.shape);
  const AxisView view = view_along(whole.shape, axis);
  const std::int64_t unit = view.inner * bytes_of(whole.dtype);
  return {view.outer, view.extent * unit, part.shape[axis] * unit,
          call.settings.integer("begin") * unit};
}

void reference_slice(const Call& call) {
  const Strides s = strides_of(call, call.in[0], call.out[0]);
  for (std::int64_t o = 0; o < s.rows; ++o)
    std::memcpy(call.out[0].as<char>() + o * s.part_bytes,
                call.in[0].as<char>() + o * s.whole_bytes + s.begin_bytes,
                static_cast<std::size_t>(s.part_bytes));
}

void reference_slice_grad(const Call& call) {
  const Strides s = strides_of(call, call.out[0], call.in[0]);
  std::memset(call.out[0].data, 0, static_cast<std::size_t>(call.out[0].bytes()));
  for (std::int64_t o = 0; o < s.rows; ++o)
    std::memcpy(call.out[0].as<char>() + o * s.whole_bytes + s.begin_bytes,
                call.in[0].as<char>() + o * s.part_bytes, static_cast<std::size_t>(s.part_bytes));
}

}  // namespace

const Op slice{
    .name = "slice",
    .doc = "the part [begin, end) along an axis",
    .settings = {axis_setting,
                 begin_setting,
                 {.name = "end",
                  .initial = std::int64_t{0},
                  .doc = "index after the last of the part",
                  .min = 0,
                  .required = true}},
    .infer = infer_slice,
    .gradient = gradient_of_slice,
    .cost = [](const Settings& settings, const std::vector<Type>&,
               const std::vector<Type>& out) { return cost_movement(settings, out, out); },
    .sharding = sharding_along,
    .reference = reference_slice,
    .cases =
        [] {
          const std::vector<Type> in{{DType::f64, {3, 5, 2}}};
          using Int = std::int64_t;
          return std::vector<OpCase>{{{{"begin", Int{1}}, {"end", Int{4}}}, in},
                                     {{{"axis", Int{0}}, {"end", Int{2}}}, in},
                                     {{{"axis", Int{-1}}, {"begin", Int{1}}, {"end", Int{2}}}, in}};
        },
    .linear = true,
};

const Op slice_grad{
    .name = "slice_grad",
    .doc = "dy at [begin, …) of an axis of `extent`, zero elsewhere",
    .settings = {axis_setting,
                 begin_setting,
                 {.name = "extent",
                  .initial = std::int64_t{0},
                  .doc = "extent of the axis",
                  .min = 0,
                  .required = true}},
    .infer = infer_slice_grad,
    .gradient = gradient_of_slice_grad,
    .cost = cost_movement,
    .sharding = sharding_along,
    .reference = reference_slice_grad,
    .cases =
        [] {
          using Int = std::int64_t;
          return std::vector<OpCase>{
              {{{"begin", Int{1}}, {"extent", Int{5}}}, {{DType::f64, {3, 2, 2}}}},
              {{{"axis", Int{0}}, {"extent", Int{3}}}, {{DType::f64, {2, 4}}}}};
        },
    .linear = true,
};

}  // namespace tutti::ops
