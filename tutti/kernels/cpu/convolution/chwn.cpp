// SPDX-License-Identifier: Apache-2.0
// Convolution on images whose samples lie innermost, CHWN (B14): x[c][h][w][n]. Every position of
// the kernel then moves whole runs of n floats, whatever stride and padding are, and im2col is one
// product for the batch. Weights are row-major as in the other variants.
#include "tutti/kernels/cpu/convolution/own.h"
#include "tutti/kernels/cpu/convolution/product.h"
#include "tutti/kernels/cpu/parallel.h"

#include <algorithm>

namespace tutti::cpu {
namespace {

// Calls tap(x, y) with the first elements of the two runs that meet in each output pixel under
// position (ky, kx) of the kernel, in one channel of x and one of y; x is nullptr in the padding.
template <class Tap>
void for_each_tap(const Sizes& s, std::int64_t ky, std::int64_t kx, float* x, float* y,
                  const Tap& tap) {
  for (std::int64_t i = 0; i < s.oh; ++i) {
    const std::int64_t line = i * s.stride_h + ky * s.dilation_h - s.padding_h;
    for (std::int64_t j = 0; j < s.ow; ++j, y += s.n) {
      const std::int64_t column = j * s.stride_w + kx * s.dilation_w - s.padding_w;
      const bool inside = line >= 0 && line < s.h && column >= 0 && column < s.w;
      tap(inside ? x + (line * s.w + column) * s.n : nullptr, y);
    }
  }
}

// Fills the matrix of patches. Its row (c, ky, kx) has a run of n floats for each output pixel, as
// y has.
void to_rows(const Sizes& s, const float* x, float* rows, int threads) {
  const std::int64_t row = s.pixels() * s.n;
  parallel(s.c * s.kernel(), 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t c = r / s.kernel(), k = r % s.kernel();
      float* channel = const_cast<float*>(x) + c * s.image() * s.n;  // only read
      for_each_tap(s, k / s.kw, k % s.kw, channel, rows + r * row, [&](const float* in, float* to) {
        if (in == nullptr)
          std::fill_n(to, s.n, 0.0f);
        else
          std::copy_n(in, s.n, to);
      });
    }
  });
}

// The adjoint of to_rows: adds the rows to x, a channel at a time.
void from_rows(const Sizes& s, float* rows, float* x, int threads) {
  const std::int64_t row = s.pixels() * s.n, channel_floats = s.image() * s.n;
  parallel(s.c, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    std::fill(x + begin * channel_floats, x + end * channel_floats, 0.0f);
    for (std::int64_t r = begin * s.kernel(); r < end * s.kernel(); ++r) {
      const std::int64_t c = r / s.kernel(), k = r % s.kernel();
      for_each_tap(s, k / s.kw, k % s.kw, x + c * channel_floats, rows + r * row,
                   [&](float* to, const float* from) {
                     if (to == nullptr) return;
                     for (std::int64_t n = 0; n < s.n; ++n) to[n] += from[n];
                   });
    }
  });
}

void by_products(const Sizes& s, Direction direction, const Operands& all, float* rows,
                 int threads) {
  const std::int64_t o = s.group_o(), k = s.patch(), p = s.pixels() * s.n;
  if (direction != Direction::input) to_rows(s, all.x, rows, threads);
  for (std::int64_t group = 0; group < s.groups; ++group) {
    float *patches = rows + group * k * p, *w = all.w + group * o * k, *y = all.y + group * o * p;
    if (direction == Direction::forward)
      product(o, p, k, {w, k}, {patches, p}, 0, y, p);
    else if (direction == Direction::input)
      product(k, p, o, {w, k, true}, {y, p}, 0, patches, p);
    else
      product(o, k, p, {y, p}, {patches, p, true}, 0, w, k);
  }
  if (direction == Direction::input) from_rows(s, rows, all.x, threads);
}

// Calls pair(x, w, y) with the channels and the weight of every position of the kernel that joins
// input channel c (of its group) and output channel o.
template <class Pair>
void for_each_position(const Sizes& s, const Operands& all, std::int64_t o, std::int64_t c,
                       const Pair& pair) {
  const std::int64_t channel = o / s.group_o() * s.group_c() + c;
  float* x = all.x + channel * s.image() * s.n;
  float* y = all.y + o * s.pixels() * s.n;
  float* w = all.w + (o * s.group_c() + c) * s.kernel();
  for (std::int64_t ky = 0; ky < s.kh; ++ky)
    for (std::int64_t kx = 0; kx < s.kw; ++kx, ++w) pair(ky, kx, x, w, y);
}

void forward(const Sizes& s, const Operands& all, int threads) {
  const std::int64_t channel_floats = s.pixels() * s.n;
  parallel(s.o, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    std::fill(all.y + begin * channel_floats, all.y + end * channel_floats, 0.0f);
    for (std::int64_t o = begin; o < end; ++o)
      for (std::int64_t c = 0; c < s.group_c(); ++c)
        for_each_position(s, all, o, c, [&](auto ky, auto kx, float* x, const float* w, float* y) {
          for_each_tap(s, ky, kx, x, y, [&](const float* in, float* out) {
            if (in == nullptr) return;
            for (std::int64_t n = 0; n < s.n; ++n) out[n] += *w * in[n];
          });
        });
  });
}

void input(const Sizes& s, const Operands& all, int threads) {
  const std::int64_t channel_floats = s.image() * s.n;
  parallel(s.c, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    std::fill(all.x + begin * channel_floats, all.x + end * channel_floats, 0.0f);
    for (std::int64_t channel = begin; channel < end; ++channel)
      for (std::int64_t o = 0; o < s.group_o(); ++o)
        for_each_position(s, all, channel / s.group_c() * s.group_o() + o, channel % s.group_c(),
                          [&](auto ky, auto kx, float* x, const float* w, float* y) {
                            for_each_tap(s, ky, kx, x, y, [&](float* to, const float* from) {
                              if (to == nullptr) return;
                              for (std::int64_t n = 0; n < s.n; ++n) to[n] += *w * from[n];
                            });
                          });
  });
}

void weight(const Sizes& s, const Operands& all, int threads) {
  parallel(s.o * s.group_c(), 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for_each_position(s, all, i / s.group_c(), i % s.group_c(),
                        [&](auto ky, auto kx, float* x, float* w, float* y) {
                          double sum = 0;
                          for_each_tap(s, ky, kx, x, y, [&](const float* in, const float* out) {
                            if (in == nullptr) return;
                            float run = 0;
                            for (std::int64_t n = 0; n < s.n; ++n) run += in[n] * out[n];
                            sum += static_cast<double>(run);
                          });
                          *w = static_cast<float>(sum);
                        });
  });
}

bool any_size(const Sizes&, Direction) { return true; }

constexpr OwnMethod im2col{
    .name = "im2col-chwn",
    .doc = "im2col on images whose samples lie innermost: one product for the batch; any size",
    .supports = any_size,
    .scratch_floats = [](const Sizes& s, Direction,
                         int) { return s.n * s.pixels() * s.c * s.kernel(); },
    .run = by_products,
    .images = Images::chwn};

constexpr OwnMethod direct{
    .name = "direct-chwn",
    .doc = "the definition in loops over samples, which lie innermost; any size, no extra memory",
    .supports = any_size,
    .scratch_floats = [](const Sizes&, Direction, int) { return std::int64_t{0}; },
    .run = run_by_direction<forward, input, weight>,
    .images = Images::chwn};

}  // namespace

ConvolutionVariant im2col_chwn_convolution() { return own_convolution<im2col>(); }
ConvolutionVariant direct_chwn_convolution() { return own_convolution<direct>(); }

}  // namespace tutti::cpu
