// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// How long it takes to compile a training step, against the number of its nodes: a chain of small
// layers, for one rank, and for one of many whose optimizer is sharded.
void bench_compile(const Options& options, Records& records);

}  // namespace tutti::bench
