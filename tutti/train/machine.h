// SPDX-License-Identifier: Apache-2.0
// What a record says about the machine.
#pragma once

#include <string>

namespace tutti {

// Processors that this program may use.
int available_cores();

// The processor's name as its maker gives it, or "unknown".
std::string cpu_name();

}  // namespace tutti
