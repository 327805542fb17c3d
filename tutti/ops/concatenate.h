// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op concatenate;  // concatenate(x0, x1, …; axis) -> y

}  // namespace tutti::ops
