// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/join.h"

#include "tutti/ops/shared/block.h"

namespace tutti::ops {
namespace {

std::vector<Setting> join_settings() {
  std::vector<Setting> settings = block_settings();
  settings.push_back(
      {.name = "firsts",
       .initial = Shape{},
       .doc = "in the arena: where in the block each input is made; empty: inputs have their place",
       .min = 0});
  return settings;
}

std::vector<Type> infer_join(const Settings& settings, const std::vector<Type>& in) {
  const Type block = joined_block("join", settings, in);
  const Shape& firsts = settings.integers("firsts");
  if (!firsts.empty() && firsts.size() != in.size())
    throw Error("[join] {} firsts, expected one for each of {} inputs", firsts.size(), in.size());
  for (std::size_t k = 0; k < firsts.size(); ++k)
    if (firsts[k] + elements(in[k].shape) > block.shape[0])
      throw Error("[join] input {} ends at element {}, expected at most the block's {}", k,
                  firsts[k] + elements(in[k].shape), block.shape[0]);
  return {block};
}

}  // namespace

const Op join{
    .name = "join",
    .doc = "the block of a flat vector that the inputs fill, under one name",
    .settings = join_settings(),
    .infer = infer_join,
    .undifferentiable = placed_after_backward,
    .cost = [](const Settings&, const std::vector<Type>&,
               const std::vector<Type>&) { return Cost{}; },
    .view = true,
};

}  // namespace tutti::ops
