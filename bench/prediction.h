// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/cost/machine.h"

#include "bench/options.h"
#include "bench/workload.h"

namespace tutti::bench {

// Predicted against measured: products of sizes that were not calibrated (K06), single convolutions
// by the plain model (K08), training steps of whole networks at three batch sizes. Reads the
// machine's calibration, or measures it when there is none.
void bench_prediction(const Options& options, Records& records);

// The machine's calibration with the numbers of threads that are asked for.
Machine machine_for(const Options& options);

// A rank's part of some batch.
Batch batch_of(const Workload& workload, int rank = 0, int ranks = 1);

}  // namespace tutti::bench
