// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

// Max-pooling of images whose channels are contiguous, channels last or blocked; of plain ones by
// windows of 2×2.
Implementation max_pool_planes();
Implementation max_pool_grad_planes();

}  // namespace tutti::cpu
