// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/kernel.h"

namespace tutti::cpu {

Implementation reorder();
// Between images blocked by 8 or 16 channels and channels last.
Implementation reorder_channels();

}  // namespace tutti::cpu
