// SPDX-License-Identifier: Apache-2.0
// A random permutation of [0, count) in O(1) memory: a keyed Feistel network on pairs
// (left, right) of [0, a) × [0, b) with a·b just above count, walked until the result is inside
// (Black and Rogaway, Ciphers with arbitrary finite domains, 2002).
#pragma once

#include <cstdint>

namespace tutti::data {

class Permutation {
 public:
  Permutation(std::int64_t count, std::uint64_t key);

  // Where position `i` of [0, count) is sent; a bijection.
  std::int64_t operator()(std::int64_t i) const;

 private:
  std::uint64_t count_, key_;
  std::uint64_t a_, b_;
};

}  // namespace tutti::data
