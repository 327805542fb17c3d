// SPDX-License-Identifier: Apache-2.0
// Implicit GEMM (B08): the patches of one tile of pixels are unrolled inside the product and
// forgotten again. The extra memory is one tile for each thread, whatever the number of images.
#include "tutti/kernels/cpu/convolution/columns.h"
#include "tutti/kernels/cpu/convolution/own.h"
#include "tutti/kernels/cpu/convolution/product.h"
#include "tutti/kernels/cpu/parallel.h"

#include <algorithm>

namespace tutti::cpu {
namespace {

constexpr std::int64_t tile_floats = 64 * 1024;  // a quarter of a megabyte: half of a small L2

// The number of pixels of a tile, which has all rows of the matrix of patches.
std::int64_t tile_pixels(const Sizes& s) {
  const std::int64_t fitting = tile_floats / s.patch() / 16 * 16;
  return std::min(s.pixels(), std::max<std::int64_t>(16, fitting));
}

std::int64_t scratch_floats(const Sizes& s, Direction, int threads) {
  return threads * tile_pixels(s) * s.patch();
}

// Cuts [0, n) among the threads; calls part(scratch of this thread, begin, end) on each.
template <class Part>
void with_tiles(const Sizes& s, std::int64_t n, float* scratch, int threads, const Part& part) {
  parallel(n, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    part(scratch + omp_get_thread_num() * tile_pixels(s) * s.patch(), begin, end);
  });
}

void forward(const Sizes& s, const Operands& all, float* scratch, int threads) {
  const std::int64_t tile = tile_pixels(s), tiles = (s.pixels() + tile - 1) / tile;
  const std::int64_t o = s.group_o(), k = s.patch(), p = s.pixels();
  with_tiles(s, s.n * s.groups * tiles, scratch, threads,
             [&](float* columns, std::int64_t begin, std::int64_t end) {
               for (std::int64_t i = begin; i < end; ++i) {
                 const std::int64_t image = i / tiles, first = i % tiles * tile;
                 const std::int64_t count = std::min(tile, p - first);
                 to_columns(s, {s.group_c(), first, count}, all.x + image * s.group_c() * s.image(),
                            columns);
                 product(o, count, k, {all.w + image % s.groups * o * k, k}, {columns, count}, 0,
                         all.y + image * o * p + first, p);
               }
             });
}

// A thread owns whole channels of x, so that no other thread adds to the pixels where patches
// overlap.
void input(const Sizes& s, const Operands& all, float* scratch, int threads) {
  const std::int64_t tile = tile_pixels(s), p = s.pixels(), o = s.group_o(), k = s.patch();
  with_tiles(s, s.n * s.c, scratch, threads,
             [&](float* columns, std::int64_t begin, std::int64_t end) {
               std::fill(all.x + begin * s.image(), all.x + end * s.image(), 0.0f);
               while (begin < end) {
                 const std::int64_t image = begin / s.group_c(), c = begin % s.group_c();
                 const std::int64_t channels = std::min(end - begin, s.group_c() - c);
                 for (std::int64_t first = 0; first < p; first += tile) {
                   const std::int64_t count = std::min(tile, p - first);
                   product(channels * s.kernel(), count, o,
                           {all.w + image % s.groups * o * k + c * s.kernel(), k, true},
                           {all.y + image * o * p + first, p}, 0, columns, count);
                   from_columns(s, {channels, first, count}, columns, all.x + begin * s.image());
                 }
                 begin += channels;
               }
             });
}

// A thread owns input channels of dw, or output channels where there are fewer input channels than
// threads.
void weight(const Sizes& s, const Operands& all, float* scratch, int threads) {
  const std::int64_t tile = tile_pixels(s), p = s.pixels(), o = s.group_o(), k = s.patch();
  const bool by_input = s.group_c() >= threads;
  with_tiles(s, by_input ? s.group_c() : o, scratch, threads,
             [&](float* columns, std::int64_t begin, std::int64_t end) {
               const std::int64_t c = by_input ? begin : 0,
                                  channels = by_input ? end - begin : s.group_c();
               const std::int64_t row = by_input ? 0 : begin, rows = by_input ? o : end - begin;
               for (std::int64_t image = 0; image < s.n * s.groups; ++image)
                 for (std::int64_t first = 0; first < p; first += tile) {
                   const std::int64_t count = std::min(tile, p - first);
                   to_columns(s, {channels, first, count},
                              all.x + (image * s.group_c() + c) * s.image(), columns);
                   product(rows, channels * s.kernel(), count,
                           {all.y + (image * o + row) * p + first, p}, {columns, count, true},
                           image < s.groups && first == 0 ? 0.0f : 1.0f,
                           all.w + (image % s.groups * o + row) * k + c * s.kernel(), k);
                 }
             });
}

constexpr OwnMethod implicit{
    .name = "implicit",
    .doc = "im2col a tile at a time inside the product; any size, little memory",
    .supports = [](const Sizes&, Direction) { return true; },
    .scratch_floats = scratch_floats,
    .run = run_by_direction<forward, input, weight>};

}  // namespace

ConvolutionVariant implicit_convolution() { return own_convolution<implicit>(); }

}  // namespace tutti::cpu
