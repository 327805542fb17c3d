// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/allgather.h"

#include "tutti/ops/shared/block.h"
#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {
namespace {

std::vector<Type> infer_allgather(const Settings& settings, const std::vector<Type>& in) {
  const Type block{in[0].dtype, {settings.integer("count")}};
  require_part("allgather", settings.integer("part_offset"), in[0].shape, block.shape);
  return {block};
}

}  // namespace

const Op allgather{
    .name = "allgather",
    .doc = "a block of a flat vector from the parts that the ranks hold",
    .settings = part_settings(
        {.name = "count", .initial = std::int64_t{0}, .doc = "elements of the block"}),
    .infer = infer_allgather,
    .undifferentiable = placed_after_backward,
    .cost = [](const Settings&, const std::vector<Type>& in,
               const std::vector<Type>& out) { return with_traffic({.depth = 1}, in, out); },
    .bf16 = true,
    .message = {.kind = MessageKind::allgather, .copies_input = true},
};

}  // namespace tutti::ops
