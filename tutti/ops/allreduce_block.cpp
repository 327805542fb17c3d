// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/allreduce_block.h"

#include "tutti/ops/shared/block.h"
#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {
namespace {

std::vector<Setting> allreduce_block_settings() {
  std::vector<Setting> settings = block_settings();
  settings.push_back(
      {.name = "axes", .initial = std::string(), .doc = "mesh axes to sum over", .required = true});
  return settings;
}

std::vector<Type> infer_allreduce_block(const Settings& settings, const std::vector<Type>& in) {
  const Type block = joined_block("allreduce_block", settings, in);
  std::int64_t inside = 0;
  for (const Type& type : in) inside += elements(type.shape);
  if (inside > block.shape[0])
    throw Error("[allreduce_block] gradients have {} elements, expected at most the block's {}",
                inside, block.shape[0]);
  return {block};
}

}  // namespace

const Op allreduce_block{
    .name = "allreduce_block",
    .doc = "the sum over ranks of a block of a flat vector, in which the inputs lie",
    .settings = allreduce_block_settings(),
    .infer = infer_allreduce_block,
    .undifferentiable = placed_after_backward,
    .cost =
        [](const Settings&, const std::vector<Type>&, const std::vector<Type>& out) {
          return with_traffic({.work = static_cast<double>(elements(out[0].shape)), .depth = 1},
                              out, out);
        },
    .message = {.kind = MessageKind::allreduce},
};

}  // namespace tutti::ops
