// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/png.h"

#include "tutti/core/error.h"
#include "tutti/data/mapped_file.h"

#include <png.h>

#include <cstring>

namespace tutti::data {
namespace {

// libpng's control block, freed whichever way reading ends.
struct Reader {
  png_image image = {};

  Reader() { image.version = PNG_IMAGE_VERSION; }
  ~Reader() { png_image_free(&image); }
};

void check_signature(std::span<const std::uint8_t> bytes, const std::string& file) {
  constexpr std::uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  if (bytes.size() < sizeof signature ||
      std::memcmp(bytes.data(), signature, sizeof signature) != 0)
    throw Error("{}: not a PNG file: it does not begin with the PNG signature", file);
}

}  // namespace

Image read_png(const std::filesystem::path& path, std::int64_t channels) {
  check(channels == 1 || channels == 3, "an image is read as gray or as red, green, blue");
  const MappedFile file(path);
  const auto bytes = file.bytes();
  check_signature(bytes, path.string());
  Reader reader;
  png_image& image = reader.image;
  const auto require = [&](int succeeded) {
    if (succeeded == 0 || PNG_IMAGE_FAILED(image))
      throw Error("{}: the PNG file is damaged ({}), expected a whole PNG image", path.string(),
                  image.message);
  };
  require(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()));
  constexpr std::uint64_t most_pixels = std::uint64_t{1} << 28;
  if (std::uint64_t{image.width} * image.height > most_pixels)
    throw Error("{}: the image has {}×{} pixels, expected at most {} in all", path.string(),
                image.height, image.width, most_pixels);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  std::vector<std::uint8_t> interleaved(PNG_IMAGE_SIZE(image));
  require(png_image_finish_read(&image, nullptr, interleaved.data(), 0, nullptr));

  Image result{.channels = channels, .height = image.height, .width = image.width, .pixels = {}};
  const std::int64_t pixels = result.height * result.width;
  result.pixels.resize(static_cast<std::size_t>(channels * pixels));
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = 0; i < pixels; ++i)
      result.pixels[c * pixels + i] = static_cast<float>(interleaved[i * channels + c]) / 255;
  return result;
}

}  // namespace tutti::data
