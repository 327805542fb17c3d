// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/range.h"

#include "tutti/ops/channels.h"
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

std::vector<Setting> join_settings() {
  std::vector<Setting> settings = block_settings();
  settings.push_back(
      {.name = "firsts",
       .initial = Shape{},
       .doc = "in the arena: where in the block each input is made; empty: inputs have their place",
       .min = 0});
  return settings;
}

std::vector<Setting> allreduce_block_settings() {
  std::vector<Setting> settings = block_settings();
  settings.push_back(
      {.name = "axes", .initial = std::string(), .doc = "mesh axes to sum over", .required = true});
  return settings;
}

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
      {.name = "weight_decay", .initial = 0.0, .doc = "of this block", .min = 0},
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
       .doc = "behind the states comes what `measure` found over the whole range"},
      {.name = "sticky",
       .initial = false,
       .doc = "the last input is the word of `guard`: nothing changes once it names a step"}};
}

std::vector<Setting> part_settings(Setting count) {
  count.min = 0;
  count.required = true;
  return {{.name = "axes", .initial = std::string(), .doc = "mesh axes", .required = true},
          {.name = "part_offset",
           .initial = std::int64_t{0},
           .doc = "first element of the block that is this rank's own",
           .min = 0,
           .required = true},
          std::move(count)};
}

void require_dtype(const char* op, const std::vector<Type>& gradients, DType expected) {
  for (const Type& type : gradients)
    if (type.dtype != expected)
      throw Error("[{}] a gradient is {}, expected {}", op, name_of(type.dtype), name_of(expected));
}

std::vector<Type> infer_join(const Settings& settings, const std::vector<Type>& in) {
  const Type block{dtype_named(settings.text("dtype")), {settings.integer("count")}};
  require_dtype("join", in, block.dtype);
  const Shape& firsts = settings.integers("firsts");
  if (!firsts.empty() && firsts.size() != in.size())
    throw Error("[join] {} firsts, expected one for each of {} inputs", firsts.size(), in.size());
  for (std::size_t k = 0; k < firsts.size(); ++k)
    if (firsts[k] + elements(in[k].shape) > block.shape[0])
      throw Error("[join] input {} ends at element {}, expected at most the block's {}", k,
                  firsts[k] + elements(in[k].shape), block.shape[0]);
  return {block};
}

std::vector<Type> infer_section(const Settings& settings, const std::vector<Type>& in) {
  const Type section{in[0].dtype, settings.integers("shape")};
  const std::int64_t end = settings.integer("offset") + elements(section.shape);
  if (end > elements(in[0].shape))
    throw Error("[section] it ends at element {}, expected at most the block's {}", end,
                elements(in[0].shape));
  return {section};
}

std::vector<Type> infer_allreduce_block(const Settings& settings, const std::vector<Type>& in) {
  const Type block{dtype_named(settings.text("dtype")), {settings.integer("count")}};
  require_dtype("allreduce_block", in, block.dtype);
  std::int64_t inside = 0;
  for (const Type& type : in) inside += elements(type.shape);
  if (inside > block.shape[0])
    throw Error("[allreduce_block] gradients have {} elements, expected at most the block's {}",
                inside, block.shape[0]);
  return {block};
}

void require_part(const char* op, std::int64_t offset, const Shape& part, const Shape& block) {
  if (part.size() != 1 || block.size() != 1 || offset + part[0] > block[0])
    throw Error("[{}] a part {} at element {} is not inside the block {}", op, to_string(part),
                offset, to_string(block));
}

std::vector<Type> infer_reduce_scatter(const Settings& settings, const std::vector<Type>& in) {
  const Type part{in[0].dtype, {settings.integer("part_count")}};
  require_part("reduce_scatter", settings.integer("part_offset"), part.shape, in[0].shape);
  return {part};
}

// The rank reads its part of every rank's block and adds the others' to its own.
Cost cost_reduce_scatter(const Settings&, const std::vector<Type>& in,
                         const std::vector<Type>& out) {
  const std::int64_t added = elements(in[0].shape) - elements(out[0].shape);
  return with_traffic({.work = static_cast<double>(added), .depth = 1}, in, out);
}

std::vector<Type> infer_allgather(const Settings& settings, const std::vector<Type>& in) {
  const Type block{in[0].dtype, {settings.integer("count")}};
  require_part("allgather", settings.integer("part_offset"), in[0].shape, block.shape);
  return {block};
}

std::vector<Type> infer_square_sum(const Settings& settings, const std::vector<Type>& in) {
  check(!in.empty(), "square_sum has an input");
  for (const Type& type : in)
    if (type.dtype != in[0].dtype || !is_float(type.dtype))
      throw Error("[square_sum] blocks are {} and {}, expected one floating-point type",
                  name_of(in[0].dtype), name_of(type.dtype));
  const Shape& firsts = settings.integers("firsts");
  const Shape& counts = settings.integers("counts");
  if (firsts.empty() && counts.empty()) return {{DType::f64, {}}};
  if (firsts.size() != in.size() || counts.size() != in.size())
    throw Error("[square_sum] {} firsts and {} counts, expected one for each of {} blocks",
                firsts.size(), counts.size(), in.size());
  for (std::size_t k = 0; k < in.size(); ++k)
    if (firsts[k] + counts[k] > elements(in[k].shape))
      throw Error("[square_sum] part {} ends at element {}, expected at most the block's {}", k,
                  firsts[k] + counts[k], elements(in[k].shape));
  return {{DType::f64, {}}};
}

std::vector<Type> infer_norm(const Settings& settings, const std::vector<Type>& in) {
  if (!is_float(in[0].dtype) || !in[0].shape.empty())
    throw Error("[gradient_norm] the sum of squares is {} {}, expected a floating-point scalar",
                name_of(in[0].dtype), to_string(in[0].shape));
  return {{dtype_named(settings.text("dtype")), {}}};
}

Cost cost_square_sum(const Settings& settings, const std::vector<Type>& in,
                     const std::vector<Type>& out) {
  std::vector<Type> read;
  for (std::size_t k = 0; k < in.size(); ++k)
    read.push_back({in[k].dtype, {square_sum_part(settings, in[k].shape, k).count}});
  std::int64_t count = 0;
  for (const Type& type : read) count += elements(type.shape);
  const auto work = static_cast<double>(count);
  return with_traffic({.work = work, .depth = 1.0 + log2_ceiling(count)}, read, out);
}

void reference_square_sum(const Call& call) {
  double squares = 0;
  dispatch_float(call.in[0].dtype, [&](auto zero) {
    for (std::size_t k = 0; k < call.in.size(); ++k) {
      const SquareSumPart part = square_sum_part(call.settings, call.in[k].shape, k);
      const auto* g = call.in[k].as<decltype(zero)>() + part.first;
      for (std::int64_t i = 0; i < part.count; ++i)
        squares += static_cast<double>(g[i]) * static_cast<double>(g[i]);
    }
  });
  *call.out[0].as<double>() = squares;
}

void reference_norm(const Call& call) {
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    *call.out[0].as<decltype(zero)>() =
        static_cast<decltype(zero)>(std::sqrt(std::max(0.0, Doubles(call.in[0])[0])));
  });
}

// Checks what update and measure are given, and returns how many of it are blocks.
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

const Op join{
    .name = "join",
    .doc = "the block of a flat vector that the inputs fill, under one name",
    .settings = join_settings(),
    .infer = infer_join,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost = [](const Settings&, const std::vector<Type>&,
               const std::vector<Type>&) { return Cost{}; },
    .view = true,
};

const Op section{
    .name = "section",
    .doc = "elements of a block of a flat vector, under a shape",
    .settings =
        {{.name = "offset",
          .initial = std::int64_t{0},
          .doc = "first element in the block",
          .min = 0},
         {.name = "shape", .initial = Shape{}, .doc = "extents; empty for a scalar", .min = 0}},
    .infer = infer_section,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost = [](const Settings&, const std::vector<Type>&,
               const std::vector<Type>&) { return Cost{}; },
    .view = true,
};

const Op allreduce_block{
    .name = "allreduce_block",
    .doc = "the sum over ranks of a block of a flat vector, in which the inputs lie",
    .settings = allreduce_block_settings(),
    .infer = infer_allreduce_block,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost =
        [](const Settings&, const std::vector<Type>&, const std::vector<Type>& out) {
          return with_traffic({.work = static_cast<double>(elements(out[0].shape)), .depth = 1},
                              out, out);
        },
    .message = {.kind = MessageKind::allreduce},
};

const Op reduce_scatter{
    .name = "reduce_scatter",
    .doc = "this rank's part of the sum over ranks of a block of the flat gradient vector",
    .settings = part_settings({.name = "part_count",
                               .initial = std::int64_t{0},
                               .doc = "elements that are this rank's own"}),
    .infer = infer_reduce_scatter,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost = cost_reduce_scatter,
    .bf16 = true,
    .message = {.kind = MessageKind::reduce_scatter, .on_input = true},
};

const Op allgather{
    .name = "allgather",
    .doc = "a block of a flat vector from the parts that the ranks hold",
    .settings = part_settings(
        {.name = "count", .initial = std::int64_t{0}, .doc = "elements of the block"}),
    .infer = infer_allgather,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost = [](const Settings&, const std::vector<Type>& in,
               const std::vector<Type>& out) { return with_traffic({.depth = 1}, in, out); },
    .bf16 = true,
    .message = {.kind = MessageKind::allgather, .copies_input = true},
};

const Op square_sum{
    .name = "square_sum",
    .doc = "the sum of squares over blocks of the gradient, or over a part of each",
    .settings = {{.name = "firsts",
                  .initial = Shape{},
                  .doc = "first element of each block's part; empty: whole blocks",
                  .min = 0},
                 {.name = "counts", .initial = Shape{}, .doc = "elements of each part", .min = 0}},
    .infer = infer_square_sum,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost = cost_square_sum,
    .reference = reference_square_sum,
    .cases =
        [] {
          return std::vector<OpCase>{{{}, {{DType::f64, {7}}, {DType::f64, {5}}}},
                                     {{{"firsts", Shape{2, 5}}, {"counts", Shape{4, 0}}},
                                      {{DType::f64, {7}}, {DType::f64, {5}}}}};
        },
};

const Op gradient_norm{
    .name = "gradient_norm",
    .doc = "the Euclidean norm of the gradient from its sum of squares",
    .settings = {{.name = "dtype",
                  .initial = std::string("f32"),
                  .doc = "of the norm",
                  .choices = {"f32", "f64"}}},
    .infer = infer_norm,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          return with_traffic({.work = 1, .depth = 1}, in, out);
        },
    .reference = reference_norm,
    .cases =
        [] {
          return std::vector<OpCase>{{{}, {{DType::f64, {}}}}};
        },
};

const Op measure{
    .name = "measure",
    .doc =
        "the sums of squares of a block's weights and of its direction, for rules with a trust "
        "ratio",
    .settings = update_settings(),
    .infer = infer_measure,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost = cost_update,
};

const Op update{
    .name = "update",
    .doc =
        "new weights and optimizer state of a block from its gradient, by an update rule; a block "
        "whose gradient is not finite stays as it is, and the sum of squares tells",
    .settings = update_settings(),
    .infer = infer_update,
    .undifferentiable = "range operators are placed after the backward pass has been made",
    .cost = cost_update,
};

}  // namespace tutti::ops
