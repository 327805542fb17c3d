// SPDX-License-Identifier: Apache-2.0
// Assumed speeds of a machine that was not calibrated; `tutti calibrate` measures the real ones.
// Where nothing was measured, steps are priced and plans are chosen by these.
#pragma once

namespace tutti::usual {

// ---- One core.
inline constexpr double peak_multiply_adds_per_second = 5e10;  // in the fastest product
inline constexpr double multiply_adds_per_second = 25e9;  // on average over a network's products
inline constexpr double operations_per_second = 5e9;      // other than multiply-adds
inline constexpr double bytes_per_second = 10e9;          // of what an operator reads and writes

// ---- A rank, whatever its threads.
inline constexpr double copy_bytes_per_second = 2e10;  // beyond all caches, read and write together
inline constexpr double fork_join_seconds = 1e-6;      // to share a loop out to a team of threads
inline constexpr double convolution_call_seconds = 20e-6;  // on top of its multiply-adds

// ---- Messages between ranks of one node, which are copies through memory.
inline constexpr double memory_latency_seconds = 1e-6;
inline constexpr double memory_seconds_per_byte = 1e-10;

// ---- Messages between nodes.
inline constexpr double network_latency_seconds = 2e-5;
inline constexpr double network_seconds_per_byte = 1e-9;

// ---- Adding the content of a received message to a rank's own values, whatever the link.
inline constexpr double seconds_per_added_byte = 1e-10;

}  // namespace tutti::usual
