// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op length_mask;  // length_mask(lengths[n]; tokens, mean) -> mask[n,tokens]

}  // namespace tutti::ops
