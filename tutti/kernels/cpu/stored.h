// SPDX-License-Identifier: Apache-2.0
// Tensors that a layout stores in 16 bits (bf16 or IEEE half), for kernels that compute in float.
// Short stretches that stay in the nearest cache are widened before a loop and narrowed after it,
// so that memory holds 16 bits and one loop serves all formats.
#pragma once

#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/implementation.h"

#include <algorithm>

namespace tutti::cpu {

// How the elements of a float tensor are stored in memory.
enum class Format : std::uint8_t { f32, bf16, fp16 };
Format format_of(const Value& value);
inline bool is_half(const Value& value) { return format_of(value) != Format::f32; }

// The layout in which an implementation (nullptr: none) can read a tensor that lies in `layout`:
// this layout, or the same with float elements.
Layout readable(const Implementation* one, const Type& type, const Layout& layout);
// The same layout with elements of IEEE half; unchanged where elements have 16 bits already.
Layout narrowed(const Type& type, const Layout& layout);

// Throws Error for bf16 unless the processor has instructions that multiply it. IEEE half is only
// stored, never multiplied.
void require_precision(const std::string& precision);

inline void widen(Format format, const std::uint16_t* x, float* y, std::int64_t n) {
  (format == Format::bf16 ? loops().widen_bf16 : loops().widen_fp16)(x, y, n);
}
inline void narrow(Format format, const float* x, std::uint16_t* y, std::int64_t n) {
  (format == Format::bf16 ? loops().narrow_bf16 : loops().narrow_fp16)(x, y, n);
}

// How many elements are converted at a time.
inline constexpr std::int64_t piece_elements = 1024;
using Piece = float[piece_elements];

// A tensor that a loop reads, piece by piece.
class Source {
 public:
  Source(const void* data, Format format) : data_(data), format_(format) {}
  explicit operator bool() const { return data_ != nullptr; }

  // n ≤ piece_elements elements from `at` on, as floats.
  const float* floats(std::int64_t at, std::int64_t n, Piece& piece) const {
    if (data_ == nullptr) return nullptr;
    if (format_ == Format::f32) return static_cast<const float*>(data_) + at;
    widen(format_, static_cast<const std::uint16_t*>(data_) + at, piece, n);
    return piece;
  }

 private:
  const void* data_;
  Format format_;
};

// A tensor that a loop writes, piece by piece.
class Target {
 public:
  Target(void* data, Format format) : data_(data), format_(format) {}

  // Where to write the elements from `at` on; store() then writes them to the tensor.
  float* floats(std::int64_t at, Piece& piece) const {
    return format_ == Format::f32 ? static_cast<float*>(data_) + at : piece;
  }
  void store(std::int64_t at, std::int64_t n, const Piece& piece) const {
    if (format_ != Format::f32) narrow(format_, piece, static_cast<std::uint16_t*>(data_) + at, n);
  }

 private:
  void* data_;
  Format format_;
};

// Calls visit(begin, end) once for floats; for 16 bits, on stretches of at most `piece` elements.
template <class Visit>
void for_pieces(Format format, std::int64_t begin, std::int64_t end, std::int64_t piece,
                const Visit& visit) {
  if (format == Format::f32) return visit(begin, end);
  for (; begin < end; begin += piece) visit(begin, std::min(end, begin + piece));
}

}  // namespace tutti::cpu
