// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/sha256.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <vector>

namespace tutti::data {
namespace {

constexpr std::size_t block_bytes = 64;
using State = std::array<std::uint32_t, 8>;

// Fractional parts of the square roots of the first 8 primes, and of the cube roots of the
// first 64.
constexpr State initial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::array<std::uint32_t, 64> constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void add_block(State& state, const std::uint8_t* block) {
  std::array<std::uint32_t, 64> w = {};
  for (int i = 0; i < 16; ++i)
    w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
           std::uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    const std::uint32_t x = w[i - 15], y = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) +
           (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    const std::uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
    const std::uint32_t first =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice + constants[i] + w[i];
    const std::uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
    h = g, g = f, f = e, e = d + first;
    d = c, c = b, b = a, a = first + second;
  }
  const State added = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state[i] += added[i];
}

}  // namespace

std::string sha256(std::span<const std::uint8_t> bytes) {
  State state = initial;
  const std::size_t whole = bytes.size() / block_bytes * block_bytes;
  for (std::size_t i = 0; i < whole; i += block_bytes) add_block(state, bytes.data() + i);

  // The rest is closed by a one bit, zeros and the length in bits, to one or two more blocks.
  std::vector<std::uint8_t> rest(bytes.begin() + whole, bytes.end());
  rest.push_back(0x80);
  while (rest.size() % block_bytes != block_bytes - 8) rest.push_back(0);
  const std::uint64_t bits = 8 * static_cast<std::uint64_t>(bytes.size());
  for (int shift = 56; shift >= 0; shift -= 8)
    rest.push_back(static_cast<std::uint8_t>(bits >> shift));
  for (std::size_t i = 0; i < rest.size(); i += block_bytes) add_block(state, rest.data() + i);
  return fmt::format("{:08x}", fmt::join(state, ""));
}

}  // namespace tutti::data
