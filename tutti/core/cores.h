// SPDX-License-Identifier: Apache-2.0
// Which processor cores threads run on. A new thread inherits the binding of the one that starts
// it.
#pragma once

#include <string>
#include <vector>

namespace tutti {

// The cores this process was given, as they were before any thread was bound.
const std::vector<int>& allowed_cores();

// How many processors this program may use.
int available_cores();

// Binds the calling thread to one core, or to all that are allowed.
void run_on_core(int core);
void run_on_any_core();

// The processor's name as its maker gives it, or "unknown".
std::string cpu_name();

}  // namespace tutti
