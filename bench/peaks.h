// SPDX-License-Identifier: Apache-2.0
// The most that the machine gives: operations of a large product and bytes of a large copy, which
// other measurements are compared with.
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Measures and records the peaks with each number of threads.
Peaks measure_peaks(const Options& options, Records& records);

}  // namespace tutti::bench
