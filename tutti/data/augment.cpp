// SPDX-License-Identifier: Apache-2.0
// Letters: c channels, h height, w width of a sample.
#include "tutti/data/augment.h"

#include "tutti/core/rng.h"

#include <algorithm>
#include <cstdlib>

namespace tutti::data {
namespace {

// Keeps these draws apart from the sampler's.
constexpr std::uint64_t augmentation_stream = 0x6175676d656e74;

// Counters of a sample's draws.
enum Draw : std::uint64_t { mirrored, shift_down, shift_right, hidden_row, hidden_column };

// Uniform in [0, bound).
std::int64_t below(std::int64_t bound, std::uint64_t key, Draw which) {
  return static_cast<std::int64_t>((draw(key, which) >> 32) * static_cast<std::uint64_t>(bound) >>
                                   32);
}

template <class T>
void flip_plane(T* x, std::int64_t h, std::int64_t w) {
  for (std::int64_t y = 0; y < h; ++y) std::reverse(x + y * w, x + (y + 1) * w);
}

// Row y becomes row y + down, moved by `right`. Rows are visited so that none is overwritten before
// it has been read.
template <class T>
void shift_plane(T* x, std::int64_t h, std::int64_t w, std::int64_t down, std::int64_t right) {
  const std::int64_t kept = w - std::abs(right), from = std::max<std::int64_t>(-right, 0),
                     to = std::max<std::int64_t>(right, 0);
  for (std::int64_t i = 0; i < h; ++i) {
    const std::int64_t y = down >= 0 ? h - 1 - i : i, source = y - down;
    T* row = x + y * w;
    if (source < 0 || source >= h) {
      std::fill(row, row + w, T(0));
      continue;
    }
    const T* old = x + source * w + from;
    if (to <= from || source != y)
      std::copy(old, old + kept, row + to);
    else
      std::copy_backward(old, old + kept, row + to + kept);
    std::fill(row, row + to, T(0));
    std::fill(row + to + kept, row + w, T(0));
  }
}

template <class T>
void hide_square(T* x, std::int64_t h, std::int64_t w, std::int64_t top, std::int64_t left,
                 std::int64_t side) {
  const std::int64_t first = std::max<std::int64_t>(left, 0), last = std::min(left + side, w);
  for (std::int64_t y = std::max<std::int64_t>(top, 0); y < std::min(top + side, h); ++y)
    std::fill(x + y * w + first, x + y * w + last, T(0));
}

}  // namespace

void Augmentation::require_fit(const Shape& sample) const {
  if (!any()) return;
  if (sample.size() != 3)
    throw Error(
        "samples are {}, but 'flip', 'crop' and 'cutout' are for images, expected channels × "
        "height × width",
        to_string(sample));
  const std::int64_t side = std::min(sample[1], sample[2]);
  if (crop >= side)
    throw Error("'crop' is {}, but images are {}×{}: expected less than {}", crop, sample[1],
                sample[2], side);
}

std::vector<Setting> augmentation_settings() {
  return {{.name = "flip",
           .initial = false,
           .doc = "training images are mirrored, left to right, half of the time"},
          {.name = "crop",
           .initial = std::int64_t{0},
           .doc = "training images are padded by so many pixels (of the mean colour) and cropped "
                  "at random",
           .min = 0,
           .max = 1024},
          {.name = "cutout",
           .initial = std::int64_t{0},
           .doc = "a square of this side is hidden in training images",
           .min = 0,
           .max = 1024}};
}

Augmentation augmentation_of(const Settings& settings) {
  if (!settings.has("flip")) return {};
  return {.flip = settings.flag("flip"),
          .crop = settings.integer("crop"),
          .cutout = settings.integer("cutout")};
}

std::uint64_t augmentation_key(std::uint64_t seed, std::int64_t epoch) {
  return fold(fold(mix(seed), static_cast<std::uint64_t>(epoch)), augmentation_stream);
}

void augment(const Augmentation& augmentation, std::uint64_t key, std::int64_t index,
             const Shape& sample, DType dtype, void* x) {
  const std::uint64_t own = fold(key, static_cast<std::uint64_t>(index));
  const std::int64_t c = sample[0], h = sample[1], w = sample[2];
  const std::int64_t crop = augmentation.crop, cutout = augmentation.cutout;
  const bool is_mirrored = augmentation.flip && below(2, own, mirrored) == 1;
  const std::int64_t down = below(2 * crop + 1, own, shift_down) - crop,
                     right = below(2 * crop + 1, own, shift_right) - crop;
  const std::int64_t top = below(h, own, hidden_row) - cutout / 2,
                     left = below(w, own, hidden_column) - cutout / 2;
  dispatch_float(dtype, [&](auto zero) {
    for (std::int64_t channel = 0; channel < c; ++channel) {
      auto* plane = static_cast<decltype(zero)*>(x) + channel * h * w;
      if (is_mirrored) flip_plane(plane, h, w);
      if (down != 0 || right != 0) shift_plane(plane, h, w, down, right);
      if (cutout > 0) hide_square(plane, h, w, top, left, cutout);
    }
  });
}

}  // namespace tutti::data
