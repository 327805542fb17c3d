// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation max_pool();
Implementation max_pool_grad();
Implementation average_pool();
Implementation average_pool_grad();

}  // namespace tutti::cpu
