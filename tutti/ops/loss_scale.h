// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op loss_scale;  // loss_scale(; dtype) -> y []

}  // namespace tutti::ops
