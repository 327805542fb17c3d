// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

// Both for beta = 0.75, whose power is made of square roots; others run by the reference.
Implementation local_response();
Implementation local_response_grad();

}  // namespace tutti::cpu
