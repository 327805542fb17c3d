// SPDX-License-Identifier: Apache-2.0
// What a record says about the machine.
#pragma once

#include "tutti/core/cores.h"

#include <cstdint>

namespace tutti {

// Processors that this program may use.
int available_cores();

// Memory of this process, now and at most so far; 0 where the system does not say.
std::int64_t resident_bytes();
std::int64_t peak_resident_bytes();

}  // namespace tutti
