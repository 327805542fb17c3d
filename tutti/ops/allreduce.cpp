// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/allreduce.h"

#include "tutti/ops/shared/message.h"

namespace tutti::ops {

const Op allreduce{
    .name = "allreduce",
    .doc = "the sum of x over the ranks of mesh axes",
    .settings = {axes_setting()},
    .infer = [](const Settings&, const std::vector<Type>& in) { return std::vector<Type>{in[0]}; },
    // Every rank's x reaches every rank's y, so dx sums dy over the ranks.
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(allreduce, {dy[0]}, node.settings);
        },
    .cost = message_cost,
    .in_place = {{0, 0}},
    .bf16 = true,
    .message = {.kind = MessageKind::allreduce, .copies_input = true},
};

}  // namespace tutti::ops
