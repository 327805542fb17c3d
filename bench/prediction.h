// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/cost/machine.h"

#include "bench/options.h"
#include "bench/workload.h"

namespace tutti::bench {

// Compares predicted with measured times: products of sizes that were not calibrated (K06), single
// convolutions by the plain model (K08), training steps of whole networks at three batch sizes.
// Reads the machine's calibration, or measures it when there is none.
void bench_prediction(const Options& options, Records& records);

// The machine's calibration for the numbers of threads in `options`.
Machine machine_for(const Options& options);

// A rank's share of a batch of the workload.
Batch batch_of(const Workload& workload, int rank = 0, int ranks = 1);

}  // namespace tutti::bench
