// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op absolute_error;  // absolute_error(prediction, target, weights) -> error

}  // namespace tutti::ops
