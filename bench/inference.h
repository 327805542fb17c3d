// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Measures inference (B03): the perceptron on 1 and 32 samples, in float and in 8-bit integers,
// taken in turns; milliseconds per sample.
void bench_inference(const Options& options, Records& records);

}  // namespace tutti::bench
