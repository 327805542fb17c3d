// SPDX-License-Identifier: Apache-2.0
// Splits a loop over this rank's OpenMP team, the one oneDNN uses too.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace tutti::cpu {

// Calls part(begin, end) on contiguous parts of [0, n), one for each thread; their lengths are
// multiples of `grain` but for the last. Small loops stay on the calling thread.
template <class Part>
void parallel(std::int64_t n, std::int64_t grain, int threads, const Part& part) {
  if (threads <= 1 || n < 2 * grain) {
    part(std::int64_t{0}, n);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t pieces = (n + grain - 1) / grain;
    const std::int64_t team = omp_get_num_threads(), me = omp_get_thread_num();
    const std::int64_t begin = std::min(n, pieces * me / team * grain);
    const std::int64_t end = std::min(n, pieces * (me + 1) / team * grain);
    if (begin < end) part(begin, end);
  }
}

}  // namespace tutti::cpu
