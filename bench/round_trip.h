// SPDX-License-Identifier: Apache-2.0
// How long a cache line takes from one core to another and back. Where others use the machine at
// the same time, this time shows how much they disturb a measurement.
#pragma once

namespace tutti::bench {

// Nanoseconds of a round trip between two threads; 0 where there is one core only.
double round_trip_ns();

}  // namespace tutti::bench
