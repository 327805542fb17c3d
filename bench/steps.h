// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Measures training steps on one rank and on two, beside those of the peers. All sides are
// processes that take turns, so that a change of the machine's state affects all of them.
void bench_steps(const Options& options, const Peaks& peaks, Records& records);

}  // namespace tutti::bench
