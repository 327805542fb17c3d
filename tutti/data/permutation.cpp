// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/permutation.h"

#include "tutti/core/error.h"
#include "tutti/core/rng.h"

#include <cmath>

namespace tutti::data {
namespace {

// value + r modulo `modulus`, r being uniform below `modulus` (at most 2³²) by the random bits.
std::uint64_t shifted(std::uint64_t value, std::uint64_t modulus, std::uint64_t bits) {
  const std::uint64_t sum = value + ((bits >> 32) * modulus >> 32);
  return sum < modulus ? sum : sum - modulus;
}

}  // namespace

Permutation::Permutation(std::int64_t count, std::uint64_t key)
    : count_(static_cast<std::uint64_t>(count)), key_(key) {
  check(count > 0, "a permutation has at least one element");
  a_ = static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  b_ = (count_ + a_ - 1) / a_;
}

std::int64_t Permutation::operator()(std::int64_t i) const {
  constexpr int rounds = 6;
  auto value = static_cast<std::uint64_t>(i);
  check(value < count_, "a position lies inside the permutation");
  do {
    std::uint64_t left = value / b_, right = value % b_;
    for (int round = 0; round < rounds; ++round) {
      // Every (round, half) has counters of its own.
      left = shifted(left, a_, draw(key_, right * 2 * rounds + 2 * round));
      right = shifted(right, b_, draw(key_, left * 2 * rounds + 2 * round + 1));
    }
    value = left * b_ + right;
  } while (value >= count_);
  return static_cast<std::int64_t>(value);
}

}  // namespace tutti::data
