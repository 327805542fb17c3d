// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op correct;  // correct(g, there, mean; part) -> d = g + part · mean − there

}  // namespace tutti::ops
