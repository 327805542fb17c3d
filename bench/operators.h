// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Measures every operator of the training steps alone, at the size that it has there; it is first
// checked against the reference.
void bench_operators(const Options& options, const Peaks& peaks, Records& records);

}  // namespace tutti::bench
