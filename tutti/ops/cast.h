// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op cast;  // cast(x; to) -> x in another type

}  // namespace tutti::ops
