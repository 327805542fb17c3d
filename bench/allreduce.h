// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Measures every allreduce algorithm between two ranks that are threads, over a range of sizes.
void bench_allreduce(const Options& options, const Peaks& peaks, Records& records);

}  // namespace tutti::bench
