// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/kernel.h"

namespace tutti::cpu {

// Both for a bias along the last axis of a matrix; others run by the reference.
Implementation bias();
Implementation bias_grad();

}  // namespace tutti::cpu
