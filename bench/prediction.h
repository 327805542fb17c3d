// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Predicted against measured: products of sizes that were not calibrated (K06), single convolutions
// by the plain model (K08), training steps of whole networks at three batch sizes. Reads the
// machine's calibration, or measures it when there is none.
void bench_prediction(const Options& options, Records& records);

}  // namespace tutti::bench
