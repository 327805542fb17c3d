// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

Implementation channel_sums();
Implementation normalise();
Implementation normalise_sums();
Implementation normalise_grad();

}  // namespace tutti::cpu
