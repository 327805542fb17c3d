// SPDX-License-Identifier: Apache-2.0
// Which processor cores threads run on. A new thread inherits the binding of the thread that starts
// it.
#pragma once

#include <string>
#include <vector>

namespace tutti {

// The cores that the calling thread might run on at the first call; later calls return the same.
// The first call should come before threads are bound.
const std::vector<int>& allowed_cores();

// The number of processors that this program may use.
int available_cores();

// Binds the calling thread to one core, or to all of allowed_cores().
void run_on_core(int core);
void run_on_any_core();

// The processor's name as its maker gives it, or "unknown".
std::string cpu_name();

}  // namespace tutti
