// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Measures how long it takes to compile a training step, against the number of its nodes: a chain
// of small layers, for one rank, and for one of many ranks with a sharded optimizer.
void bench_compile(const Options& options, Records& records);

}  // namespace tutti::bench
