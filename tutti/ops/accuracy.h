// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op accuracy;  // accuracy(logits, labels, weights) -> weighted count of right answers

}  // namespace tutti::ops
