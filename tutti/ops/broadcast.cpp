// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/broadcast.h"

#include "tutti/ops/shared/message.h"

namespace tutti::ops {

const Op broadcast{
    .name = "broadcast",
    .doc = "x of the first rank, on all ranks of mesh axes",
    .settings = {axes_setting()},
    .infer = [](const Settings&, const std::vector<Type>& in) { return std::vector<Type>{in[0]}; },
    .undifferentiable = "broadcast is placed after the backward pass has been made",
    .cost = message_cost,
    .in_place = {{0, 0}},
    .bf16 = true,
    .message = {.kind = MessageKind::broadcast, .copies_input = true},
};

}  // namespace tutti::ops
