// SPDX-License-Identifier: Apache-2.0
// The digits are enlarged and scaled once when opened: at 28×28 all of them are 5.6 MB of floats.
#include "tutti/data/digits.h"

#include "tutti/data/augment.h"
#include "tutti/data/digits_data.h"
#include "tutti/data/permutation.h"
#include "tutti/data/resize.h"
#include "tutti/data/scaling.h"

#include <algorithm>

namespace tutti::data {
namespace {

constexpr std::int64_t train_count = 1437;
constexpr std::uint64_t split_key = 1797;  // fixed: every recipe has the same test images

// Image `row` enlarged to `size` × `size`, of which `padding` pixels on each side are background.
std::vector<float> image(const char* row, std::int64_t size, std::int64_t padding,
                         const Scaling& scaling) {
  std::vector<float> pixels(digit_pixels);
  for (int i = 0; i < digit_pixels; ++i) pixels[i] = static_cast<float>(row[i] - 'A') / 16;
  const std::int64_t inner = size - 2 * padding;
  if (inner != digit_extent)
    pixels = resize_bilinear(pixels, digit_extent, digit_extent, inner, inner);
  std::vector<float> padded(static_cast<std::size_t>(size * size), scaling(0));
  for (std::int64_t y = 0; y < inner; ++y)
    for (std::int64_t x = 0; x < inner; ++x)
      padded[(y + padding) * size + x + padding] = scaling(pixels[y * inner + x]);
  return padded;
}

class Digits : public Dataset {
 public:
  Digits(const Settings& settings, Split split, const Scaling& scaled_by) {
    const std::int64_t size = settings.integer("size"), padding = settings.integer("padding");
    if (size - 2 * padding < digit_extent)
      throw Error(
          "data set digits: size {} less a padding of {} on each side leaves {} pixels, "
          "expected at least {}; enlarge 'size' or reduce 'padding'",
          size, padding, size - 2 * padding, digit_extent);
    name = "digits";
    fields = input_and_labels({1, size, size});
    classes = 10;
    scaled_by.require_fit(sample_shape());
    const Permutation shuffled(digit_count, split_key);
    const std::int64_t first = split == Split::train ? 0 : train_count;
    const std::int64_t last = split == Split::train ? train_count : digit_count;
    count = last - first;
    for (std::int64_t i = first; i < last; ++i) {
      const char* row = digit_rows[shuffled(i)];
      const std::vector<float> pixels = image(row, size, padding, scaled_by);
      pixels_.insert(pixels_.end(), pixels.begin(), pixels.end());
      labels_.push_back(row[digit_pixels] - '0');
    }
  }

  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    const std::int64_t per_sample = elements(sample_shape());
    auto* labels = static_cast<std::int32_t*>(into.fields[1]);
    dispatch_float(into.dtype, [&](auto zero) {
      auto* x = static_cast<decltype(zero)*>(into.fields[0]);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        check(indices[i] >= 0 && indices[i] < count, "a sample index lies inside the data set");
        if (x != nullptr) x = std::copy_n(&pixels_[indices[i] * per_sample], per_sample, x);
        if (labels != nullptr) labels[i] = labels_[indices[i]];
      }
    });
  }

 private:
  std::vector<float> pixels_;
  std::vector<std::int32_t> labels_;
};

}  // namespace

DatasetEntry digits() {
  const std::vector<Setting> settings = {
      {.name = "size",
       .initial = std::int64_t{digit_extent},
       .doc = "height and width; above 8 the digits are enlarged (bilinear)",
       .min = digit_extent,
       .max = 1024},
      {.name = "padding",
       .initial = std::int64_t{0},
       .doc = "background pixels on each side, counted in 'size'",
       .min = 0,
       .max = 512}};
  return {
      .name = "digits",
      .doc =
          "embedded: 1,797 handwritten digits of 8×8 (UCI); a fixed shuffle makes 1,437 "
          "training and 360 test images",
      .settings = joined({settings, scaling_settings({0.3053}, {0.3760}), augmentation_settings()}),
      .open = [](const Settings& given, Split split) -> std::unique_ptr<Dataset> {
        return open_scaled(given, split, [&](Split part, const Scaling& scaling) {
          return std::make_unique<Digits>(given, part, scaling);
        });
      }};
}

}  // namespace tutti::data
