// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Training steps on one rank and two, and of the peers: processes that take turns, so that a change
// of the machine's state meets all of them.
void bench_steps(const Options& options, const Peaks& peaks, Records& records);

}  // namespace tutti::bench
