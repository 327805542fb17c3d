// SPDX-License-Identifier: Apache-2.0
// Counts calls of operator new, which this test program replaces. A call is ours when the first
// object on the stack that is not the C++ library is this program; else it was made inside a
// foreign call (oneDNN, libgomp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::test {

struct Allocations {
  std::int64_t ours = 0, foreign = 0;
  std::size_t largest_bytes = 0;  // of all
};

// Counts from here on, on all threads.
void start_counting();
Allocations stop_counting();

}  // namespace tutti::test
