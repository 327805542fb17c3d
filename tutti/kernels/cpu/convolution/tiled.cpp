// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/convolution/tiled.h"

#include "tutti/kernels/cpu/convolution/product.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"

#include <algorithm>
#include <string_view>

namespace tutti::cpu {

namespace baseline {
extern const TileLoops tile_loops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const TileLoops tile_loops;
}
namespace avx512 {
extern const TileLoops tile_loops;
}
#endif

const TileLoops& tile_loops() {
#if defined(__x86_64__)
  const std::string_view chosen = loops().name;
  if (chosen == "avx512") return avx512::tile_loops;
  if (chosen == "avx2") return avx2::tile_loops;
#endif
  return baseline::tile_loops;
}

namespace {

constexpr std::int64_t chunk_floats = 16 << 20;  // floats of transformed tiles that exist at a time
constexpr std::int64_t fewest_tiles = 32;  // tiles of a chunk, which are the rows of its products

std::int64_t padded(std::int64_t channels) { return (channels + lanes - 1) / lanes * lanes; }

class Tiled {
 public:
  // `sizes` are those that seen_from() returns.
  Tiled(const Sizes& sizes, Direction direction, const Tiling& tiling, int threads)
      : s_(sizes),
        direction_(direction),
        t_(tiling),
        threads_(threads),
        c_(padded(s_.c)),
        o_(padded(s_.o)),
        rows_(t_.tile - s_.kh + 1),
        columns_(t_.tile - s_.kw + 1),
        tiles_h_((s_.oh + rows_ - 1) / rows_),
        tiles_w_((s_.ow + columns_ - 1) / columns_) {
    const std::int64_t one = t_.coefficients * t_.parts * (c_ + o_);
    chunk_ = std::min(tiles(), std::max(fewest_tiles, chunk_floats / one));
  }

  std::int64_t tiles() const { return s_.n * tiles_h_ * tiles_w_; }
  std::int64_t scratch_floats() const {
    return threads_ * t_.buffer_floats + kernel_floats() +
           chunk_ * image_plane() * t_.coefficients + chunk_ * output_plane() * t_.coefficients;
  }

  void run(const float* x, float* w, float* y, float* scratch) {
    buffers_ = scratch;
    kernels_ = buffers_ + threads_ * t_.buffer_floats;
    images_ = kernels_ + kernel_floats();
    outputs_ = images_ + chunk_ * image_plane() * t_.coefficients;
    const bool weight = direction_ == Direction::weight;
    if (!weight) transform_kernels(w);
    for (std::int64_t first = 0; first < tiles(); first += chunk_) {
      const std::int64_t count = std::min(chunk_, tiles() - first);
      transform_images(x, first, count);
      if (weight) transform_output_gradients(y, first, count);
      over(t_.coefficients, [&](std::int64_t f, float*) {
        if (weight)
          multiply_gradients(f, count, first > 0);
        else
          multiply(f, count);
      });
      if (!weight) transform_outputs(y, first, count);
    }
    if (weight) transform_kernel_gradients(w);
  }

 private:
  // The floats that one coefficient has: for the channels of one tile of x or y, and for all
  // kernels. A complex product is made of real products, for which kernels are stored as [re; im;
  // −re], see multiply().
  std::int64_t image_plane() const { return t_.parts * c_; }
  std::int64_t output_plane() const { return t_.parts * o_; }
  std::int64_t kernel_plane() const {
    const std::int64_t copies = t_.parts == 1 ? 1 : direction_ == Direction::weight ? 2 : 3;
    return copies * c_ * o_;
  }
  std::int64_t kernel_floats() const { return t_.coefficients * kernel_plane(); }

  // Calls visit(i, buffer of the thread) for i in [0, n), on all threads.
  template <class Visit>
  void over(std::int64_t n, const Visit& visit) const {
    parallel(n, 1, threads_, [&](std::int64_t begin, std::int64_t end) {
      float* buffer = buffers_ + omp_get_thread_num() * t_.buffer_floats;
      for (std::int64_t i = begin; i < end; ++i) visit(i, buffer);
    });
  }

  // Where kernels (c, block of o) lie: OIhw16i16o, or for the input's gradient, where the roles of
  // o and i are exchanged, OIhw16o16i and flipped.
  template <class Data>
  TilePixels<Data> kernel_at(Data* w, std::int64_t c, std::int64_t block) const {
    const std::int64_t position = lanes * lanes, c_block = c / lanes;
    const bool flipped = direction_ == Direction::input;
    const std::int64_t index =
        flipped ? c_block * (o_ / lanes) + block : block * (c_ / lanes) + c_block;
    const std::int64_t first = flipped ? s_.kernel() - 1 : 0, sign = flipped ? -1 : 1;
    return {w + (index * s_.kernel() + first) * position + c % lanes * lanes,
            sign * s_.kw * position,
            sign * position,
            0,
            s_.kh,
            0,
            s_.kw};
  }

  struct Tile {
    std::int64_t image, row, column;  // first output pixel
  };
  Tile tile_at(std::int64_t index) const {
    return {index / (tiles_h_ * tiles_w_), index / tiles_w_ % tiles_h_ * rows_,
            index % tiles_w_ * columns_};
  }

  TileSource image_at(const float* x, const Tile& tile, std::int64_t block) const {
    const std::int64_t top = tile.row - s_.padding_h, left = tile.column - s_.padding_w;
    const auto inside = [&](std::int64_t start, std::int64_t extent) {
      const std::int64_t begin = std::max<std::int64_t>(0, -start);
      return Reach{begin, std::max(begin, std::min(t_.tile, extent - start))};
    };
    const Reach rows = inside(top, s_.h), columns = inside(left, s_.w);
    if (rows.begin >= t_.tile || columns.begin >= t_.tile) return {};
    return {x + ((tile.image * c_ / lanes + block) * s_.image() + top * s_.w + left) * lanes,
            s_.w * lanes,
            lanes,
            rows.begin,
            rows.end,
            columns.begin,
            columns.end};
  }

  template <class Data>
  TilePixels<Data> output_at(Data* y, const Tile& tile, std::int64_t block) const {
    return {y + ((tile.image * o_ / lanes + block) * s_.pixels() + tile.row * s_.ow + tile.column) *
                    lanes,
            s_.ow * lanes,
            lanes,
            0,
            std::min(rows_, s_.oh - tile.row),
            0,
            std::min(columns_, s_.ow - tile.column)};
  }

  void transform_kernels(const float* w) const {
    over(c_ * (o_ / lanes), [&](std::int64_t i, float* buffer) {
      const std::int64_t c = i / (o_ / lanes), block = i % (o_ / lanes);
      t_.transforms->kernel(t_.plan, kernel_at(w, c, block),
                            {kernels_ + c * o_ + block * lanes, kernel_plane(), c_ * o_}, buffer);
    });
    if (t_.parts == 1) return;
    over(t_.coefficients, [&](std::int64_t f, float*) {
      float* re = kernels_ + f * kernel_plane();
      for (std::int64_t i = 0; i < c_ * o_; ++i) re[2 * c_ * o_ + i] = -re[i];
    });
  }

  void transform_images(const float* x, std::int64_t first, std::int64_t count) const {
    const std::int64_t blocks = c_ / lanes;
    over(count * blocks, [&](std::int64_t i, float* buffer) {
      const std::int64_t tile = i / blocks, block = i % blocks;
      t_.transforms->image(
          t_.plan, image_at(x, tile_at(first + tile), block),
          {images_ + tile * image_plane() + block * lanes, count * image_plane(), c_}, buffer);
    });
  }

  void transform_output_gradients(const float* y, std::int64_t first, std::int64_t count) const {
    const std::int64_t blocks = o_ / lanes;
    over(count * blocks, [&](std::int64_t i, float* buffer) {
      const std::int64_t tile = i / blocks, block = i % blocks;
      t_.transforms->output_gradient(
          t_.plan, output_at(y, tile_at(first + tile), block),
          {outputs_ + tile * output_plane() + block * lanes, count * output_plane(), o_}, buffer);
    });
  }

  // Y = X·conj(W). For complex numbers: re = [Xr Xi]·[Wr; Wi], im = −[Xr Xi]·[Wi; −Wr].
  void multiply(std::int64_t f, std::int64_t count) const {
    const Matrix x{images_ + f * count * image_plane(), image_plane()};
    const float* w = kernels_ + f * kernel_plane();
    float* y = outputs_ + f * count * output_plane();
    product(count, o_, t_.parts * c_, x, {w, o_}, 0, y, output_plane());
    if (t_.parts == 2)
      product(count, o_, 2 * c_, x, {w + c_ * o_, o_}, 0, y + o_, output_plane(), -1);
  }

  // dW += Xᵀ·conj(dY).
  void multiply_gradients(std::int64_t f, std::int64_t count, bool add) const {
    const float* x = images_ + f * count * image_plane();
    const float* dy = outputs_ + f * count * output_plane();
    float* dw = kernels_ + f * kernel_plane();
    const auto one = [&](std::int64_t x_part, std::int64_t y_part, float beta, float* to,
                         float sign) {
      product(c_, o_, count, {x + x_part * c_, image_plane(), true},
              {dy + y_part * o_, output_plane()}, beta, to, o_, sign);
    };
    one(0, 0, add ? 1 : 0, dw, 1);
    if (t_.parts == 1) return;
    one(1, 1, 1, dw, 1);
    one(1, 0, add ? 1 : 0, dw + c_ * o_, 1);
    one(0, 1, 1, dw + c_ * o_, -1);
  }

  void transform_outputs(float* y, std::int64_t first, std::int64_t count) const {
    const std::int64_t blocks = o_ / lanes;
    over(count * blocks, [&](std::int64_t i, float* buffer) {
      const std::int64_t tile = i / blocks, block = i % blocks;
      t_.transforms->output(
          t_.plan, {outputs_ + tile * output_plane() + block * lanes, count * output_plane(), o_},
          output_at(y, tile_at(first + tile), block), buffer);
    });
  }

  void transform_kernel_gradients(float* w) const {
    over(c_ * (o_ / lanes), [&](std::int64_t i, float* buffer) {
      const std::int64_t c = i / (o_ / lanes), block = i % (o_ / lanes);
      t_.transforms->kernel_gradient(t_.plan,
                                     {kernels_ + c * o_ + block * lanes, kernel_plane(), c_ * o_},
                                     kernel_at(w, c, block), buffer);
    });
  }

  const Sizes s_;
  const Direction direction_;
  const Tiling& t_;
  const int threads_;
  const std::int64_t c_, o_;           // padded to whole vectors
  const std::int64_t rows_, columns_;  // output pixels of a tile
  const std::int64_t tiles_h_, tiles_w_;
  std::int64_t chunk_ = 0;  // tiles that are transformed at a time
  float *buffers_ = nullptr, *kernels_ = nullptr, *images_ = nullptr, *outputs_ = nullptr;
};

}  // namespace

Sizes seen_from(const Sizes& sizes, Direction direction) {
  if (direction != Direction::input) return sizes;
  Sizes mirrored = sizes;
  std::swap(mirrored.c, mirrored.o);
  std::swap(mirrored.h, mirrored.oh);
  std::swap(mirrored.w, mirrored.ow);
  mirrored.padding_h = sizes.kh - 1 - sizes.padding_h;
  mirrored.padding_w = sizes.kw - 1 - sizes.padding_w;
  return mirrored;
}

std::int64_t tiled_tiles(const Sizes& sizes, Direction direction, const Tiling& tiling) {
  return Tiled(seen_from(sizes, direction), direction, tiling, 1).tiles();
}

std::int64_t tiled_scratch_floats(const Sizes& sizes, Direction direction, const Tiling& tiling,
                                  int threads) {
  return Tiled(seen_from(sizes, direction), direction, tiling, threads).scratch_floats();
}

void tiled_run(const Sizes& sizes, Direction direction, const Tiling& tiling, const Operands& all,
               float* scratch, int threads) {
  Tiled tiled(seen_from(sizes, direction), direction, tiling, threads);
  if (direction == Direction::input)
    tiled.run(all.y, all.w, all.x, scratch);
  else
    tiled.run(all.x, all.w, all.y, scratch);
}

}  // namespace tutti::cpu
