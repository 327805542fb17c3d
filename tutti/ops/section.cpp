// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/section.h"

#include "tutti/ops/shared/block.h"

namespace tutti::ops {
namespace {

std::vector<Type> infer_section(const Settings& settings, const std::vector<Type>& in) {
  const Type section{in[0].dtype, settings.integers("shape")};
  const std::int64_t end = settings.integer("offset") + elements(section.shape);
  if (end > elements(in[0].shape))
    throw Error("[section] it ends at element {}, expected at most the block's {}", end,
                elements(in[0].shape));
  return {section};
}

}  // namespace

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
    .undifferentiable = placed_after_backward,
    .cost = [](const Settings&, const std::vector<Type>&,
               const std::vector<Type>&) { return Cost{}; },
    .view = true,
};

}  // namespace tutti::ops
