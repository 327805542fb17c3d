// SPDX-License-Identifier: Apache-2.0
// Direct convolution (B05) as it is defined: for every output channel and image, rows of x times
// one weight are added to rows of y. It needs no extra memory; every other variant is compared with
// it.
#include "tutti/kernels/cpu/convolution/own.h"
#include "tutti/kernels/cpu/parallel.h"

#include <algorithm>

namespace tutti::cpu {
namespace {

// Calls row(x, w, y, count) for each weight w of the channel pair (c, o) and each row of output
// pixels of image n: w joins x[i · stride] and y[i] for i < count.
template <class Row>
void for_each_row(const Sizes& s, const Operands& all, std::int64_t n, std::int64_t o,
                  std::int64_t c, const Row& row) {
  const std::int64_t channel = o / s.group_o() * s.group_c() + c;
  float* x = all.x + (n * s.c + channel) * s.image();
  float* y = all.y + (n * s.o + o) * s.pixels();
  float* w = all.w + (o * s.group_c() + c) * s.kernel();
  for (std::int64_t ky = 0; ky < s.kh; ++ky)
    for (std::int64_t kx = 0; kx < s.kw; ++kx, ++w) {
      const std::int64_t dy = ky * s.dilation_h - s.padding_h;
      const std::int64_t dx = kx * s.dilation_w - s.padding_w;
      const Reach lines = reach(dy, s.stride_h, s.h, s.oh);
      const Reach columns = reach(dx, s.stride_w, s.w, s.ow);
      if (columns.begin >= columns.end) continue;
      for (std::int64_t i = lines.begin; i < lines.end; ++i)
        row(x + (i * s.stride_h + dy) * s.w + columns.begin * s.stride_w + dx, w,
            y + i * s.ow + columns.begin, columns.end - columns.begin);
    }
}

void forward(const Sizes& s, const Operands& all, int threads) {
  parallel(s.n * s.o, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    std::fill(all.y + begin * s.pixels(), all.y + end * s.pixels(), 0.0f);
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t c = 0; c < s.group_c(); ++c)
        for_each_row(s, all, i / s.o, i % s.o, c,
                     [&](const float* x, const float* w, float* y, std::int64_t count) {
                       if (s.stride_w == 1)
                         for (std::int64_t j = 0; j < count; ++j) y[j] += *w * x[j];
                       else
                         for (std::int64_t j = 0; j < count; ++j) y[j] += *w * x[j * s.stride_w];
                     });
  });
}

void input(const Sizes& s, const Operands& all, int threads) {
  parallel(s.n * s.c, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    std::fill(all.x + begin * s.image(), all.x + end * s.image(), 0.0f);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t channel = i % s.c, group = channel / s.group_c();
      for (std::int64_t o = 0; o < s.group_o(); ++o)
        for_each_row(s, all, i / s.c, group * s.group_o() + o, channel % s.group_c(),
                     [&](float* x, const float* w, const float* y, std::int64_t count) {
                       if (s.stride_w == 1)
                         for (std::int64_t j = 0; j < count; ++j) x[j] += *w * y[j];
                       else
                         for (std::int64_t j = 0; j < count; ++j) x[j * s.stride_w] += *w * y[j];
                     });
    }
  });
}

void weight(const Sizes& s, const Operands& all, int threads) {
  parallel(s.o * s.group_c(), 1, threads, [&](std::int64_t begin, std::int64_t end) {
    std::fill(all.w + begin * s.kernel(), all.w + end * s.kernel(), 0.0f);
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t n = 0; n < s.n; ++n)
        for_each_row(s, all, n, i / s.group_c(), i % s.group_c(),
                     [&](const float* x, float* w, const float* y, std::int64_t count) {
                       float sum = 0;
                       for (std::int64_t j = 0; j < count; ++j) sum += x[j * s.stride_w] * y[j];
                       *w += sum;
                     });
  });
}

constexpr OwnMethod direct{
    .name = "direct",
    .doc = "the definition in loops over rows; any size, no extra memory",
    .supports = [](const Sizes&, Direction) { return true; },
    .scratch_floats = [](const Sizes&, Direction, int) { return std::int64_t{0}; },
    .run = run_by_direction<forward, input, weight>};

}  // namespace

ConvolutionVariant direct_convolution() { return own_convolution<direct>(); }

}  // namespace tutti::cpu
