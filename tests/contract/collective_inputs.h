// SPDX-License-Identifier: Apache-2.0
// Vectors that ranks give to collectives, and their sums.
#pragma once

#include "tutti/core/bf16.h"
#include "tutti/core/rng.h"

#include <cstdint>
#include <vector>

namespace tutti {

// Sizes around the boundaries of ranks, cache lines and segments.
inline const std::vector<std::int64_t> counts = {0, 1, 2, 7, 16, 17, 63, 1000, 4099, 16384, 33333};

// Small integers: the sum over nine ranks is exact in any order.
template <class T>
T whole(int rank, std::int64_t i) {
  constexpr int most = sizeof(T) == sizeof(Bf16) ? 28 : 1000;  // bf16 counts up to 256
  return static_cast<T>(static_cast<std::int64_t>(draw(rank, i) % (2 * most + 1)) - most);
}

// Numbers of very different size: their sum depends on the order.
template <class T>
T rough(int rank, std::int64_t i) {
  const auto scale = static_cast<double>(1 << (draw(rank + 100, i) % 20));
  return static_cast<T>((uniform(rank, i) - 0.5) * scale);
}

template <class T, class Value>
std::vector<T> vector_of(int rank, std::int64_t count, Value value) {
  std::vector<T> all(count);
  for (std::int64_t i = 0; i < count; ++i) all[i] = value(rank, i);
  return all;
}

template <class T, class Value>
std::vector<T> sum_in_rank_order(int ranks, std::int64_t count, Value value) {
  std::vector<T> sum = vector_of<T>(0, count, value);
  for (int rank = 1; rank < ranks; ++rank)
    for (std::int64_t i = 0; i < count; ++i) sum[i] += value(rank, i);
  return sum;
}

}  // namespace tutti
