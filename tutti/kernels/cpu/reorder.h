// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation reorder();
// Between floats and IEEE half, whatever the order of elements, if both have the same.
Implementation convert();
// Between images blocked by 8 or 16 channels and channels last.
Implementation reorder_channels();

}  // namespace tutti::cpu
