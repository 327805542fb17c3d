// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op one_hot;  // one_hot(labels; classes, dtype) -> y, y[n, labels[n]] = 1, else 0

}  // namespace tutti::ops
