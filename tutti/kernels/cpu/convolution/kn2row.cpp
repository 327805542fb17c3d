// SPDX-License-Identifier: Apache-2.0
// kn2row (B07): a convolution as kh·kw convolutions by 1×1 kernels, each a product without patches,
// shifted and added. The extra memory is one position of the kernels and some rows of one such
// result: at most n·o·h·w floats.
#include "tutti/kernels/cpu/convolution/own.h"
#include "tutti/kernels/cpu/convolution/product.h"
#include "tutti/kernels/cpu/parallel.h"

#include <algorithm>

namespace tutti::cpu {
namespace {

// The extents of the image that is held in scratch memory: a product in the directions forward and
// input, the shifted x in the direction weight.
struct Strip {
  std::int64_t channels, height, width;
};
Strip strip_of(const Sizes& s, Direction direction) {
  if (direction == Direction::forward) return {s.group_o(), s.h, s.w};
  return {s.group_c(), s.oh, s.ow};
}

// How many rows of that image are worked on at a time, so that they and one position of the kernels
// take at most n·o·h·w floats.
std::int64_t strip_rows(const Sizes& s, Direction direction) {
  const Strip strip = strip_of(s, direction);
  const std::int64_t room = s.n * s.o * s.image() - s.group_o() * s.group_c();
  return std::min(strip.height, room / (strip.channels * strip.width));
}

std::int64_t scratch_floats(const Sizes& s, Direction direction, int) {
  const Strip strip = strip_of(s, direction);
  return s.group_o() * s.group_c() + strip_rows(s, direction) * strip.channels * strip.width;
}

template <class Visit>
void for_each_position(const Sizes& s, const Visit& visit) {
  for (std::int64_t ky = 0; ky < s.kh; ++ky)
    for (std::int64_t kx = 0; kx < s.kw; ++kx) visit(ky, kx);
}

// w[:, :, ky, kx] of one group as a matrix of o rows.
void gather_position(const Sizes& s, const float* w, std::int64_t position, float* matrix) {
  for (std::int64_t i = 0; i < s.group_o() * s.group_c(); ++i)
    matrix[i] = w[i * s.kernel() + position];
}

void forward(const Sizes& s, const Operands& all, float* scratch, int threads) {
  const std::int64_t o = s.group_o(), c = s.group_c(), rows = strip_rows(s, Direction::forward);
  float *matrix = scratch, *result = scratch + o * c;
  std::fill(all.y, all.y + s.n * s.o * s.pixels(), 0.0f);
  for (std::int64_t group = 0; group < s.groups; ++group)
    for_each_position(s, [&](std::int64_t ky, std::int64_t kx) {
      gather_position(s, all.w + group * o * s.patch(), ky * s.kw + kx, matrix);
      const std::int64_t dy = ky * s.dilation_h - s.padding_h;
      const std::int64_t dx = kx * s.dilation_w - s.padding_w;
      const Reach columns = reach(dx, s.stride_w, s.w, s.ow);
      for (std::int64_t n = 0; n < s.n; ++n)
        for (std::int64_t top = 0; top < s.h; top += rows) {
          const std::int64_t count = std::min(rows, s.h - top) * s.w;
          const Reach lines = reach(dy - top, s.stride_h, count / s.w, s.oh);
          if (lines.begin >= lines.end) continue;
          product(o, count, c, {matrix, c},
                  {all.x + (n * s.c + group * c) * s.image() + top * s.w, s.image()}, 0, result,
                  count);
          parallel(o, 1, threads, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k)
              for (std::int64_t i = lines.begin; i < lines.end; ++i) {
                float* to = all.y + ((n * s.o + group * o + k) * s.oh + i) * s.ow;
                const float* from = result + k * count + (i * s.stride_h + dy - top) * s.w + dx;
                for (std::int64_t j = columns.begin; j < columns.end; ++j)
                  to[j] += from[j * s.stride_w];
              }
          });
        }
    });
}

void input(const Sizes& s, const Operands& all, float* scratch, int threads) {
  const std::int64_t o = s.group_o(), c = s.group_c(), rows = strip_rows(s, Direction::input);
  float *matrix = scratch, *result = scratch + o * c;
  std::fill(all.x, all.x + s.n * s.c * s.image(), 0.0f);
  for (std::int64_t group = 0; group < s.groups; ++group)
    for_each_position(s, [&](std::int64_t ky, std::int64_t kx) {
      gather_position(s, all.w + group * o * s.patch(), ky * s.kw + kx, matrix);
      const std::int64_t dy = ky * s.dilation_h - s.padding_h;
      const std::int64_t dx = kx * s.dilation_w - s.padding_w;
      const Reach columns = reach(dx, s.stride_w, s.w, s.ow);
      const Reach all_lines = reach(dy, s.stride_h, s.h, s.oh);
      for (std::int64_t n = 0; n < s.n; ++n)
        for (std::int64_t top = 0; top < s.oh; top += rows) {
          const std::int64_t count = std::min(rows, s.oh - top) * s.ow;
          const std::int64_t first = std::max(top, all_lines.begin);
          const std::int64_t last = std::min(top + count / s.ow, all_lines.end);
          if (first >= last) continue;
          product(c, count, o, {matrix, c, true},
                  {all.y + (n * s.o + group * o) * s.pixels() + top * s.ow, s.pixels()}, 0, result,
                  count);
          parallel(c, 1, threads, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k)
              for (std::int64_t i = first; i < last; ++i) {
                float* to =
                    all.x + ((n * s.c + group * c + k) * s.h + i * s.stride_h + dy) * s.w + dx;
                const float* from = result + k * count + (i - top) * s.ow;
                for (std::int64_t j = columns.begin; j < columns.end; ++j)
                  to[j * s.stride_w] += from[j];
              }
          });
        }
    });
}

// dw at one position = dy · (x, shifted)ᵀ.
void weight(const Sizes& s, const Operands& all, float* scratch, int threads) {
  const std::int64_t o = s.group_o(), c = s.group_c(), rows = strip_rows(s, Direction::weight);
  float *matrix = scratch, *shifted = scratch + o * c;
  for (std::int64_t group = 0; group < s.groups; ++group)
    for_each_position(s, [&](std::int64_t ky, std::int64_t kx) {
      const std::int64_t dy = ky * s.dilation_h - s.padding_h;
      const std::int64_t dx = kx * s.dilation_w - s.padding_w;
      const Reach columns = reach(dx, s.stride_w, s.w, s.ow);
      const Reach lines = reach(dy, s.stride_h, s.h, s.oh);
      bool first = true;
      for (std::int64_t n = 0; n < s.n; ++n)
        for (std::int64_t top = 0; top < s.oh; top += rows, first = false) {
          const std::int64_t count = std::min(rows, s.oh - top) * s.ow;
          parallel(c, 1, threads, [&](std::int64_t begin, std::int64_t end) {
            std::fill(shifted + begin * count, shifted + end * count, 0.0f);
            for (std::int64_t k = begin; k < end; ++k)
              for (std::int64_t i = std::max(top, lines.begin);
                   i < std::min(top + count / s.ow, lines.end); ++i) {
                const float* from =
                    all.x + ((n * s.c + group * c + k) * s.h + i * s.stride_h + dy) * s.w + dx;
                float* to = shifted + k * count + (i - top) * s.ow;
                for (std::int64_t j = columns.begin; j < columns.end; ++j)
                  to[j] = from[j * s.stride_w];
              }
          });
          product(o, c, count,
                  {all.y + (n * s.o + group * o) * s.pixels() + top * s.ow, s.pixels()},
                  {shifted, count, true}, first ? 0.0f : 1.0f, matrix, c);
        }
      float* to = all.w + group * o * s.patch() + ky * s.kw + kx;
      for (std::int64_t i = 0; i < o * c; ++i) to[i * s.kernel()] = matrix[i];
    });
}

constexpr OwnMethod kn2row{
    .name = "kn2row",
    .doc = "one product per position of the kernel, shifted and added; no patches",
    .supports = [](const Sizes& s, Direction direction) { return strip_rows(s, direction) >= 1; },
    .scratch_floats = scratch_floats,
    .run = run_by_direction<forward, input, weight>};

}  // namespace

ConvolutionVariant kn2row_convolution() { return own_convolution<kn2row>(); }

}  // namespace tutti::cpu
