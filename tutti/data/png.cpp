// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/png.h"

#include "tutti/core/error.h"

#include <png.h>

namespace tutti::data {
namespace {

// libpng's control block, freed whichever way reading ends.
struct Reader {
  png_image image = {};

  Reader() { image.version = PNG_IMAGE_VERSION; }
  ~Reader() { png_image_free(&image); }
};

}  // namespace

Image decode_png(std::span<const std::uint8_t> bytes, const std::string& file,
                 std::int64_t channels) {
  Reader reader;
  png_image& image = reader.image;
  const auto require = [&](int succeeded) {
    if (succeeded == 0 || PNG_IMAGE_FAILED(image))
      throw Error("{}: the PNG file is damaged ({}), expected a whole PNG image", file,
                  image.message);
  };
  require(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()));
  constexpr std::uint64_t most_pixels = std::uint64_t{1} << 28;
  if (std::uint64_t{image.width} * image.height > most_pixels)
    throw Error("{}: the image has {}×{} pixels, expected at most {} in all", file, image.height,
                image.width, most_pixels);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  std::vector<std::uint8_t> interleaved(PNG_IMAGE_SIZE(image));
  require(png_image_finish_read(&image, nullptr, interleaved.data(), 0, nullptr));

  Image result{channels, image.height, image.width};
  const std::int64_t pixels = result.height * result.width;
  result.pixels.resize(static_cast<std::size_t>(channels * pixels));
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = 0; i < pixels; ++i)
      result.pixels[c * pixels + i] = interleaved[i * channels + c];
  return result;
}

}  // namespace tutti::data
