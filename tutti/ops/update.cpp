// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/update.h"

#include "tutti/ops/shared/block.h"
#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {
namespace {

constexpr int most_states = 4;

std::vector<Setting> update_settings() {
  return {
      {.name = "rule", .initial = std::string(), .doc = "update rule", .required = true},
      {.name = "hyper",
       .initial = std::vector<double>{},
       .doc = "the rule's constants in the order it declares them"},
      {.name = "rate_multiplier",
       .initial = 1.0,
       .doc = "multiplies the step's learning rate",
       .min = 0},
      {.name = "weight_decay", .initial = 0.0, .doc = "weight decay of this block", .min = 0},
      {.name = "clip_value",
       .initial = 0.0,
       .doc = "largest magnitude of a gradient element; 0: any",
       .min = 0},
      {.name = "clip_norm",
       .initial = 0.0,
       .doc = "largest norm of the gradient, an input; 0: any, and unless guarded no such input",
       .min = 0},
      {.name = "guarded", .initial = false, .doc = "nothing changes unless the norm is finite"},
      {.name = "row_width",
       .initial = std::int64_t{0},
       .doc = "elements of a row, where an input names the rows that change; 0: all do",
       .min = 0},
      {.name = "measured",
       .initial = false,
       .doc = "the input behind the states is what `measure` found over the whole range"},
      {.name = "sticky",
       .initial = false,
       .doc = "the last input is the word of `guard`: nothing changes once it names a step"}};
}

// Checks the inputs of update and measure, and returns how many of them are blocks.
std::size_t update_blocks(const Settings& settings, const std::vector<Type>& in) {
  const int states = state_blocks(settings, in.size());
  if (states < 0 || states > most_states)
    throw Error(
        "[update] {} inputs leave {} state blocks, expected gradient, weights, 0 to {} "
        "states{}{}{}",
        in.size(), states, most_states, has_squares(settings) ? ", measured squares" : "",
        has_norm(settings) ? ", the norm" : "", has_guard(settings) ? ", the word of guard" : "");
  const std::size_t blocks = 2 + static_cast<std::size_t>(states);
  for (std::size_t i = 0; i < blocks; ++i)
    if (!(in[i] == in[0]) || in[i].shape.size() != 1)
      throw Error("[update] block {} is {} {}, expected a vector like the gradient's {} {}", i,
                  name_of(in[i].dtype), to_string(in[i].shape), name_of(in[0].dtype),
                  to_string(in[0].shape));
  const auto require = [&](const char* what, const Type& given, const Type& expected) {
    const std::string shape = expected.shape.empty() ? "a scalar" : to_string(expected.shape);
    if (!(given == expected))
      throw Error("[update] {} is {} {}, expected {} {}", what, name_of(given.dtype),
                  to_string(given.shape), shape, name_of(expected.dtype));
  };
  std::size_t next = blocks;
  if (has_squares(settings)) require("what was measured", in[next++], {DType::f64, {2}});
  if (has_norm(settings)) require("the norm", in[next++], {in[0].dtype, {}});
  if (has_rows(settings)) {
    check(!has_norm(settings) && !has_squares(settings), "norms are taken of whole ranges");
    const DType rows = in[next++].dtype;
    if (rows != DType::i32 || elements(in[0].shape) % settings.integer("row_width") != 0)
      throw Error("[update] rows are {} of {} elements, expected i32 and rows that fill {}",
                  name_of(rows), settings.integer("row_width"), to_string(in[0].shape));
  }
  if (has_guard(settings)) require("the word of guard", in[next], {DType::i64, {}});
  return blocks;
}

std::vector<Type> infer_update(const Settings& settings, const std::vector<Type>& in) {
  std::vector<Type> out(update_blocks(settings, in) - 1, in[0]);
  out.push_back({DType::f64, {}});
  return out;
}

std::vector<Type> infer_measure(const Settings& settings, const std::vector<Type>& in) {
  update_blocks(settings, in);
  return {{DType::f64, {2}}};
}

Cost cost_update(const Settings& settings, const std::vector<Type>& in,
                 const std::vector<Type>& out) {
  const double per_element = 4.0 + 2.0 * state_blocks(settings, in.size());
  if (has_rows(settings)) {
    const int blocks_in = 2 + state_blocks(settings, in.size());
    const auto blocks = static_cast<double>(blocks_in);
    const Shape& rows = in[static_cast<std::size_t>(blocks_in)].shape;
    const double touched =
        static_cast<double>(elements(rows)) * static_cast<double>(settings.integer("row_width"));
    const double bytes = touched * static_cast<double>(bytes_of(in[0].dtype));
    return {.work = per_element * touched,
            .depth = per_element,
            .bytes_read = bytes * blocks,
            .bytes_written = bytes * (blocks - 1)};
  }
  return with_traffic(
      {.work = per_element * static_cast<double>(elements(in[0].shape)), .depth = per_element}, in,
      out);
}

}  // namespace

const Op measure{
    .name = "measure",
    .doc =
        "the sums of squares of a block's weights and of its direction, for rules with a trust "
        "ratio",
    .settings = update_settings(),
    .infer = infer_measure,
    .undifferentiable = placed_after_backward,
    .cost = cost_update,
};

const Op update{
    .name = "update",
    .doc =
        "new weights and optimizer state of a block from its gradient, by an update rule; a block "
        "whose gradient is not finite stays as it is, and the sum of squares tells",
    .settings = update_settings(),
    .infer = infer_update,
    .undifferentiable = placed_after_backward,
    .cost = cost_update,
};

}  // namespace tutti::ops
