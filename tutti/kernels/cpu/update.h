// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation update();
Implementation measure();
Implementation square_sum();

}  // namespace tutti::cpu
