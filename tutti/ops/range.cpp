// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/range.h"

#include "tutti/ops/traffic.h"

#include <cmath>

namespace tutti::ops {
namespace {

constexpr int most_states = 4;

std::vector<Setting> block_settings() {
  return {{.name = "offset",
           .initial = std::int64_t{0},
           .doc = "first element in the flat vector",
           .min = 0,
           .required = true},
          {.name = "count",
           .initial = std::int64_t{0},
           .doc = "elements, gaps included",
           .min = 0,
           .required = true},
          {.name = "dtype",
           .initial = std::string("f32"),
           .doc = "element type",
           .choices = {"f32", "f64"}}};
}

std::vector<Setting> reduce_settings() {
  std::vector<Setting> settings = block_settings();
  settings.push_back(
      {.name = "axis", .initial = std::string(), .doc = "mesh axis to sum over", .required = true});
  return settings;
}

std::vector<Type> infer_reduce(const Settings& settings, const std::vector<Type>& in) {
  const Type block{dtype_named(settings.text("dtype")), {settings.integer("count")}};
  std::int64_t inside = 0;
  for (const Type& type : in) {
    if (type.dtype != block.dtype)
      throw Error("[reduce] a gradient is {}, expected {}", name_of(type.dtype),
                  name_of(block.dtype));
    inside += elements(type.shape);
  }
  if (inside > block.shape[0])
    throw Error("[reduce] gradients have {} elements, expected at most the block's {}", inside,
                block.shape[0]);
  return {block};
}

std::vector<Type> infer_norm(const Settings&, const std::vector<Type>& in) {
  check(!in.empty(), "gradient_norm has an input");
  for (const Type& type : in)
    if (type.dtype != in[0].dtype || !is_float(type.dtype))
      throw Error("[gradient_norm] blocks are {} and {}, expected one floating-point type",
                  name_of(in[0].dtype), name_of(type.dtype));
  return {{in[0].dtype, {}}};
}

Cost cost_norm(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  std::int64_t count = 0;
  for (const Type& type : in) count += elements(type.shape);
  const auto work = static_cast<double>(count);
  return with_traffic({.work = work, .depth = 2.0 + log2_ceiling(count)}, in, out);
}

void reference_norm(const Call& call) {
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    double squares = 0;
    for (const Tensor& g : call.in)
      for (std::int64_t i = 0; i < g.count(); ++i) {
        const auto value = static_cast<double>(g.as<T>()[i]);
        squares += value * value;
      }
    *call.out[0].as<T>() = static_cast<T>(std::sqrt(squares));
  });
}

std::vector<Type> infer_update(const Settings& settings, const std::vector<Type>& in) {
  const int states = state_blocks(settings, in.size());
  if (states < 0 || states > most_states)
    throw Error(
        "[update] {} inputs leave {} state blocks, expected gradient, weights, 0 to {} "
        "states{}",
        in.size(), states, most_states, has_norm(settings) ? " and the norm" : "");
  const std::size_t blocks = 2 + static_cast<std::size_t>(states);
  for (std::size_t i = 0; i < blocks; ++i)
    if (!(in[i] == in[0]) || in[i].shape.size() != 1)
      throw Error("[update] block {} is {} {}, expected a vector like the gradient's {} {}", i,
                  name_of(in[i].dtype), to_string(in[i].shape), name_of(in[0].dtype),
                  to_string(in[0].shape));
  if (has_norm(settings) && !(in.back() == Type{in[0].dtype, {}}))
    throw Error("[update] the norm is {} {}, expected a scalar {}", name_of(in.back().dtype),
                to_string(in.back().shape), name_of(in[0].dtype));
  std::vector<Type> out(blocks - 1, in[0]);
  out.push_back({DType::f64, {}});
  return out;
}

Cost cost_update(const Settings& settings, const std::vector<Type>& in,
                 const std::vector<Type>& out) {
  const double per_element = 4.0 + 2.0 * state_blocks(settings, in.size());
  return with_traffic(
      {.work = per_element * static_cast<double>(elements(in[0].shape)), .depth = per_element}, in,
      out);
}

}  // namespace

const Op join{
    .name = "join",
    .doc = "the block of the flat gradient vector in which the inputs lie, under one name",
    .settings = block_settings(),
    .infer = infer_reduce,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost = [](const Settings&, const std::vector<Type>&,
               const std::vector<Type>&) { return Cost{}; },
    .view = true,
};

const Op reduce{
    .name = "reduce",
    .doc = "the sum over ranks of a block of the flat gradient vector, in which the inputs lie",
    .settings = reduce_settings(),
    .infer = infer_reduce,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost =
        [](const Settings&, const std::vector<Type>&, const std::vector<Type>& out) {
          return with_traffic({.work = static_cast<double>(elements(out[0].shape)), .depth = 1},
                              out, out);
        },
};

const Op gradient_norm{
    .name = "gradient_norm",
    .doc = "the Euclidean norm of blocks of the gradient",
    .infer = infer_norm,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost = cost_norm,
    .reference = reference_norm,
    .cases =
        [] {
          return std::vector<OpCase>{{{}, {{DType::f64, {7}}, {DType::f64, {5}}}}};
        },
};

const Op update{
    .name = "update",
    .doc =
        "new weights and optimizer state of a block from its gradient, by an update rule; a block "
        "whose gradient is not finite stays as it is, and the sum of squares tells",
    .settings = {{.name = "rule", .initial = std::string(), .doc = "update rule", .required = true},
                 {.name = "hyper",
                  .initial = std::vector<double>{},
                  .doc = "the rule's constants in the order it declares them"},
                 {.name = "rate_multiplier",
                  .initial = 1.0,
                  .doc = "multiplies the step's learning rate",
                  .min = 0},
                 {.name = "weight_decay", .initial = 0.0, .doc = "of this block", .min = 0},
                 {.name = "clip_value",
                  .initial = 0.0,
                  .doc = "largest magnitude of a gradient element; 0: any",
                  .min = 0},
                 {.name = "clip_norm",
                  .initial = 0.0,
                  .doc = "largest norm of the gradient, the last input; 0: any, and no such input",
                  .min = 0}},
    .infer = infer_update,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost = cost_update,
};

}  // namespace tutti::ops
