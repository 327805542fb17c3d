// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/square_sum.h"

#include "tutti/ops/shared/block.h"
#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {
namespace {

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

}  // namespace

const Op square_sum{
    .name = "square_sum",
    .doc = "the sum of squares over blocks of the gradient, or over a part of each",
    .settings = {{.name = "firsts",
                  .initial = Shape{},
                  .doc = "first element of each block's part; empty: whole blocks",
                  .min = 0},
                 {.name = "counts", .initial = Shape{}, .doc = "elements of each part", .min = 0}},
    .infer = infer_square_sum,
    .undifferentiable = placed_after_backward,
    .cost = cost_square_sum,
    .reference = reference_square_sum,
    .cases =
        [] {
          return std::vector<OpCase>{{{}, {{DType::f64, {7}}, {DType::f64, {5}}}},
                                     {{{"firsts", Shape{2, 5}}, {"counts", Shape{4, 0}}},
                                      {{DType::f64, {7}}, {DType::f64, {5}}}}};
        },
};

}  // namespace tutti::ops
