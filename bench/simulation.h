// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Compares simulated with measured times: data-parallel steps of two ranks that are threads, with
// one thread each. Reads the machine's calibration, or measures it when there is none.
void bench_simulation(const Options& options, Records& records);

}  // namespace tutti::bench
