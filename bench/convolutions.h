// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Measures every variant of convolution over kernels of 1 to 31, channels of 1 to 512 and images of
// 8 to 256: who wins where, and how near `auto` comes to the best. Takes minutes, so it runs only
// when the filter begins with "conv".
void bench_convolutions(const Options& options, const Peaks& peaks, Records& records);

}  // namespace tutti::bench
