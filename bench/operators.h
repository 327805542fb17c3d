// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Every operator of the training steps alone, at the size it has there: first checked against the
// reference, then timed.
void bench_operators(const Options& options, const Peaks& peaks, Records& records);

}  // namespace tutti::bench
