// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation concatenate();
Implementation slice();
Implementation slice_grad();

}  // namespace tutti::cpu
