// SPDX-License-Identifier: Apache-2.0
// Direct convolution (B05) for few channels, where blocks of channels would be mostly empty:
// vectors run along rows, and the sums of all output channels stay in registers. Each thread copies
// one image at a time, adding its padding.
#include "tutti/kernels/cpu/convolution/rows.h"

#include "tutti/kernels/cpu/convolution/own.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace tutti::cpu {
namespace {

constexpr std::int64_t vector = 16;  // floats of a vector
// The most vectors of partial sums that a thread may have.
constexpr std::int64_t largest_partial_sums = 4096;

std::int64_t whole_vectors(std::int64_t floats) { return (floats + vector - 1) / vector * vector; }

// An image with zeros around it.
struct Padded {
  std::int64_t channels, h, w;  // extents without the zeros
  std::int64_t top, left, rows, columns;

  std::int64_t floats() const { return whole_vectors(channels * rows * columns + row_slack); }
  RowPlanes planes(float* data) const { return {data, rows * columns, columns}; }

  void clear(float* to) const { std::fill(to, to + floats(), 0.0f); }
  // Copies an image into memory that clear() was called on; the zeros around it stay.
  void copy(const float* from, float* to) const {
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t i = 0; i < h; ++i, from += w)
        std::memcpy(to + (c * rows + top + i) * columns + left, from,
                    static_cast<std::size_t>(w) * sizeof(float));
  }
};

Padded padded_input(const Sizes& s) {
  return {s.c, s.h, s.w, s.padding_h, s.padding_w, s.h + 2 * s.padding_h, s.w + 2 * s.padding_w};
}

// dy as the input of the convolution that computes dx.
Padded padded_gradient(const Sizes& s) {
  const std::int64_t top = s.kh - 1 - s.padding_h, left = s.kw - 1 - s.padding_w;
  return {s.o, s.oh, s.ow, top, left, s.oh + 2 * top, s.ow + 2 * left};
}

// dy with rows of whole vectors, for the gradient of the weights.
Padded whole_rows(const Sizes& s) { return {s.o, s.oh, s.ow, 0, 0, s.oh, whole_vectors(s.ow)}; }

// w[o][c][ky][kx] → [c][ky][kx][o], or for dx → [o][ky][kx][c] with kernels flipped.
void turn(const Sizes& s, Direction direction, const float* w, float* to) {
  for (std::int64_t o = 0; o < s.o; ++o)
    for (std::int64_t c = 0; c < s.c; ++c)
      for (std::int64_t k = 0; k < s.kernel(); ++k, ++w)
        if (direction == Direction::forward)
          to[(c * s.kernel() + k) * s.o + o] = *w;
        else
          to[(o * s.kernel() + s.kernel() - 1 - k) * s.c + c] = *w;
}

// Calls part(begin, end, scratch of the thread) for the images [begin, end) of each thread.
template <class Part>
void for_each_thread(std::int64_t images, int threads, float* scratch, std::int64_t floats,
                     const Part& part) {
  parallel(images, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    part(begin, end, scratch + omp_get_thread_num() * floats);
  });
}

void convolve(const Sizes& s, Direction direction, const Operands& all, float* scratch,
              int threads) {
  const bool forward = direction == Direction::forward;
  const Padded padded = forward ? padded_input(s) : padded_gradient(s);
  const RowSizes sizes =
      forward ? RowSizes{s.c, s.o, s.kh, s.kw, s.oh, s.ow, padded.top, padded.top + padded.h}
              : RowSizes{s.o, s.c, s.kh, s.kw, s.h, s.w, padded.top, padded.top + padded.h};
  float* w = scratch;
  turn(s, direction, all.w, w);
  const float* from = forward ? all.x : all.y;
  float* to = forward ? all.y : all.x;
  const std::int64_t image = sizes.oh * sizes.ow;
  for_each_thread(s.n, threads, scratch + whole_vectors(s.o * s.c * s.kernel()), padded.floats(),
                  [&](std::int64_t begin, std::int64_t end, float* copy) {
                    padded.clear(copy);
                    for (std::int64_t n = begin; n < end; ++n) {
                      padded.copy(from + n * sizes.c * padded.h * padded.w, copy);
                      loops().rows->forward(sizes, padded.planes(copy), w, {all.bias, all.relu},
                                            {to + n * sizes.o * image, image, sizes.ow});
                    }
                  });
}

// The scratch memory of a thread for the gradient of weights: vectors of partial sums, and copies
// of one image of x and dy.
std::int64_t weight_floats(const Sizes& s) {
  return s.o * s.patch() * vector + padded_input(s).floats() + whole_rows(s).floats();
}

void weight(const Sizes& s, const Operands& all, float* scratch, int threads) {
  const Padded x = padded_input(s), dy = whole_rows(s);
  const std::int64_t weights = s.o * s.patch(), floats = weight_floats(s);
  for (std::int64_t me = 0; me < threads; ++me)
    std::fill_n(scratch + me * floats, weights * vector, 0.0f);
  for_each_thread(s.n, threads, scratch, floats,
                  [&](std::int64_t begin, std::int64_t end, float* sums) {
                    float *x_copy = sums + weights * vector, *dy_copy = x_copy + x.floats();
                    x.clear(x_copy);
                    dy.clear(dy_copy);
                    for (std::int64_t n = begin; n < end; ++n) {
                      x.copy(all.x + n * s.c * s.image(), x_copy);
                      dy.copy(all.y + n * s.o * s.pixels(), dy_copy);
                      loops().rows->weight({s.c, s.o, s.kh, s.kw, s.oh, s.ow, 0, x.rows},
                                           x.planes(x_copy), dy.planes(dy_copy), sums);
                    }
                  });
  for (std::int64_t o = 0; o < s.o; ++o)
    for (std::int64_t k = 0; k < s.patch(); ++k) {
      float sum = 0;
      for (std::int64_t me = 0; me < threads; ++me) {
        const float* partial = scratch + me * floats + (k * s.o + o) * vector;
        for (std::int64_t i = 0; i < vector; ++i) sum += partial[i];
      }
      all.w[o * s.patch() + k] = sum;
    }
}

bool supports(const Sizes& s, Direction direction) {
  if (!s.dense()) return false;
  if (direction == Direction::input) return s.padding_h < s.kh && s.padding_w < s.kw;
  return direction == Direction::forward || s.o * s.patch() <= largest_partial_sums;
}

// Preferred where blocks of 16 channels would be at most half full while rows fill at least three
// quarters of their vectors.
bool preferred(const Sizes& s, Direction direction) {
  const std::int64_t channels = direction == Direction::input ? s.c : s.o;
  const std::int64_t width = direction == Direction::input ? s.w : s.ow;
  return std::string_view(loops().name) == "avx512" && 2 * channels <= vector &&
         4 * width >= 3 * whole_vectors(width);
}

std::int64_t scratch_floats(const Sizes& s, Direction direction, int threads) {
  if (direction == Direction::weight) return threads * weight_floats(s);
  const Padded padded = direction == Direction::forward ? padded_input(s) : padded_gradient(s);
  return whole_vectors(s.o * s.c * s.kernel()) + threads * padded.floats();
}

constexpr OwnMethod rows{
    .name = "rows",
    .doc = "direct with vectors along rows: stride 1; few channels",
    .supports = supports,
    .scratch_floats = scratch_floats,
    .run =
        [](const Sizes& s, Direction direction, const Operands& all, float* scratch, int threads) {
          if (direction == Direction::weight) return weight(s, all, scratch, threads);
          convolve(s, direction, all, scratch, threads);
        },
    .preferred = preferred,
    .finishes = true};

}  // namespace

ConvolutionVariant rows_convolution() { return own_convolution<rows>(); }

}  // namespace tutti::cpu
