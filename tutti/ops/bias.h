// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op bias;            // bias(x, b) -> x + b along `axis`
extern const Op bias_grad;       // bias_grad(dy) -> db
extern const Op broadcast_bias;  // broadcast_bias(b, like) -> b repeated to the shape of like

}  // namespace tutti::ops
