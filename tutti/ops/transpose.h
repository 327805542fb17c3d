// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op transpose;  // transpose(x; permutation) -> y

}  // namespace tutti::ops
