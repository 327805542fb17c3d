// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation embedding();
Implementation embedding_grad();

}  // namespace tutti::cpu
