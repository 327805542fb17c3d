// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/reduce_scatter.h"

#include "tutti/ops/shared/block.h"
#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {
namespace {

std::vector<Type> infer_reduce_scatter(const Settings& settings, const std::vector<Type>& in) {
  const Type part{in[0].dtype, {settings.integer("part_count")}};
  require_part("reduce_scatter", settings.integer("part_offset"), part.shape, in[0].shape);
  return {part};
}

// The rank reads its part of every rank's block and adds the parts of the other ranks to its own.
Cost cost_reduce_scatter(const Settings&, const std::vector<Type>& in,
                         const std::vector<Type>& out) {
  const std::int64_t added = elements(in[0].shape) - elements(out[0].shape);
  return with_traffic({.work = static_cast<double>(added), .depth = 1}, in, out);
}

}  // namespace

const Op reduce_scatter{
    .name = "reduce_scatter",
    .doc = "this rank's part of the sum over ranks of a block of the flat gradient vector",
    .settings = part_settings({.name = "part_count",
                               .initial = std::int64_t{0},
                               .doc = "elements that are this rank's own"}),
    .infer = infer_reduce_scatter,
    .undifferentiable = placed_after_backward,
    .cost = cost_reduce_scatter,
    .bf16 = true,
    .message = {.kind = MessageKind::reduce_scatter, .on_input = true},
};

}  // namespace tutti::ops
