// SPDX-License-Identifier: Apache-2.0
// Counts what the whole test program allocates with new.
#pragma once

namespace tutti::data {

// Calls of operator new so far, by all threads.
long allocations();

}  // namespace tutti::data
