// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti {

// The implementation that calls the operator's plain loops; nullptr for operators that the executor
// carries out. For `update` it runs the loop of the update rule.
const Implementation* reference_for(const Op& op);

}  // namespace tutti
