// SPDX-License-Identifier: Apache-2.0
// What a record says about the machine.
#pragma once

#include "tutti/core/cores.h"

namespace tutti {

// Processors that this program may use.
int available_cores();

}  // namespace tutti
