// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation softmax();
Implementation softmax_grad();

}  // namespace tutti::cpu
