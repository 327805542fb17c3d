// SPDX-License-Identifier: Apache-2.0
// What the machine gives: a large product, a large copy, and how long a cache line takes from one
// core to another and back. The last tells the state that a shared machine is in.
#pragma once

#include "bench/options.h"

namespace tutti::bench {

// Nanoseconds of a round trip between two threads.
double round_trip_ns();

// Measures and records the peaks with each number of threads.
Peaks measure_peaks(const Options& options, Records& records);

}  // namespace tutti::bench
