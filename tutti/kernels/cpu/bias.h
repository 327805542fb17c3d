// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation bias();
Implementation bias_grad();

}  // namespace tutti::cpu
