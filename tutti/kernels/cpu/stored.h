// SPDX-License-Identifier: Apache-2.0
// Tensors that a layout stores in 16 bits (bf16), for kernels that compute in float: pieces that
// stay in the nearest cache are widened before a loop and narrowed after it, so that memory sees
// 16 bits and one loop serves both.
#pragma once

#include "tutti/graph/graph.h"
#include "tutti/kernels/cpu/loops.h"

#include <algorithm>

namespace tutti::cpu {

// Whether the values of a float tensor lie in memory as bf16.
bool is_half(const Value& value);
// The same layout with float elements.
Layout widened(const Type& type, const Layout& layout);

// Throws Error unless the processor multiplies bf16.
void require_precision(const std::string& precision);

// Elements of a piece.
inline constexpr std::int64_t piece_elements = 1024;
using Piece = float[piece_elements];

// A tensor that a loop reads, piece by piece.
class Source {
 public:
  Source(const void* data, bool half) : data_(data), half_(half) {}
  explicit operator bool() const { return data_ != nullptr; }

  // n ≤ piece_elements elements from `at` on, as floats.
  const float* floats(std::int64_t at, std::int64_t n, Piece& piece) const {
    if (data_ == nullptr) return nullptr;
    if (!half_) return static_cast<const float*>(data_) + at;
    loops().widen(static_cast<const std::uint16_t*>(data_) + at, piece, n);
    return piece;
  }

 private:
  const void* data_;
  bool half_;
};

// A tensor that a loop writes, piece by piece.
class Target {
 public:
  Target(void* data, bool half) : data_(data), half_(half) {}

  // Where to write the elements from `at` on; store() then brings them home.
  float* floats(std::int64_t at, Piece& piece) const {
    return half_ ? piece : static_cast<float*>(data_) + at;
  }
  void store(std::int64_t at, std::int64_t n, const Piece& piece) const {
    if (half_) loops().narrow(piece, static_cast<std::uint16_t*>(data_) + at, n);
  }

 private:
  void* data_;
  bool half_;
};

// Calls visit(begin, end) on pieces of [begin, end) when half, else once.
template <class Visit>
void for_pieces(bool half, std::int64_t begin, std::int64_t end, std::int64_t piece,
                const Visit& visit) {
  if (!half) return visit(begin, end);
  for (; begin < end; begin += piece) visit(begin, std::min(end, begin + piece));
}

}  // namespace tutti::cpu
