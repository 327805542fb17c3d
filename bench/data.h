// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Measures reading batches of images as training does, on one thread.
void bench_data(const Options& options, Records& records);

}  // namespace tutti::bench
