// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

// Both on row-major tensors and for any axis but the last, as for the rows of weights.
Implementation gain();
Implementation gain_grad();

}  // namespace tutti::cpu
