// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: a draw is a pure function of a key and a counter, so it does not
// depend on threads, ranks, order or recomputation. The mixer is the SplitMix64 finaliser.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace tutti {

[[gnu::always_inline]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// The key of an independent stream of random numbers: fold in seed, epoch, node … one after the
// other.
constexpr std::uint64_t fold(std::uint64_t key, std::uint64_t word) { return mix(key ^ mix(word)); }

// 64 random bits: the draw number `counter` of the stream `key`.
[[gnu::always_inline]] constexpr std::uint64_t draw(std::uint64_t key, std::uint64_t counter) {
  return mix(key + counter * 0xd1342543de82ef95ull);
}

// Uniform in [0, 1), 53 bits.
constexpr double uniform(std::uint64_t key, std::uint64_t counter) {
  return static_cast<double>(draw(key, counter) >> 11) * 0x1.0p-53;
}

// Standard normal (Box–Muller on two draws).
inline double normal(std::uint64_t key, std::uint64_t counter) {
  const double u = 1.0 - uniform(key, 2 * counter), v = uniform(key, 2 * counter + 1);
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace tutti
