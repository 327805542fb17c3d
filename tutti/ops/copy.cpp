// SPDX-License-Identifier: Apache-2.0
// The same values in other memory: copy keeps the layout. The layout pass places reorder where
// producer and consumer want different layouts, and relabel where the two layouts are the same
// bytes. The layouts are those of the input and output values.
#include "tutti/ops/copy.h"

#include "tutti/ops/shared/axis.h"
#include "tutti/ops/shared/pointwise.h"

#include <cstring>

namespace tutti::ops {
namespace {

std::vector<Type> infer(const Settings&, const std::vector<Type>& in) { return {in[0]}; }

std::vector<ValueId> gradient(Graph&, const Node&, const std::vector<ValueId>& dy) {
  return {dy[0]};
}

void reference(const Call& call) {
  std::memcpy(call.out[0].data, call.in[0].data, static_cast<std::size_t>(call.in[0].bytes()));
}

}  // namespace

const Op copy{
    .name = "copy",
    .doc = "y = x",
    .infer = infer,
    .gradient = gradient,
    .cost = cost_movement,
    .sharding = sharding_pointwise,
    .reference = reference,
    .cases = [] { return cases_pointwise(1); },
    .linear = true,
};

const Op reorder{
    .name = "reorder",
    .doc = "y = x in another layout",
    .infer = infer,
    .gradient = gradient,
    .cost = cost_movement,
    .sharding = sharding_pointwise,
    .reference = reference,
    .cases = [] { return cases_pointwise(1); },
    .linear = true,
};

const Op relabel{
    .name = "relabel",
    .doc = "y = x, the same bytes read as another layout",
    .infer = infer,
    .gradient = gradient,
    .cost = [](const Settings&, const std::vector<Type>&,
               const std::vector<Type>&) { return Cost{.depth = 1}; },
    .sharding = sharding_pointwise,
    .reference = reference,
    .cases = [] { return cases_pointwise(1); },
    .view = true,
    .linear = true,
};

}  // namespace tutti::ops
