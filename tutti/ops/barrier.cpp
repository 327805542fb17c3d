// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/barrier.h"

#include "tutti/ops/shared/message.h"

namespace tutti::ops {

const Op barrier{
    .name = "barrier",
    .doc = "nothing that follows begins before all ranks of mesh axes have come here",
    .settings = {axes_setting()},
    .infer = [](const Settings&, const std::vector<Type>&) { return std::vector<Type>{}; },
    .undifferentiable = "barrier is placed after the backward pass has been made",
    .cost = message_cost,
    .message = {.kind = MessageKind::barrier},
};

}  // namespace tutti::ops
