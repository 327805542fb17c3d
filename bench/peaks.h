// SPDX-License-Identifier: Apache-2.0
// The peaks of the machine, which other measurements are compared with: operations per second of a
// large product and bytes per second of a large copy.
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Measures and records the peaks with each number of threads.
Peaks measure_peaks(const Options& options, Records& records);

}  // namespace tutti::bench
