// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/image.h"

#include "tutti/core/error.h"
#include "tutti/data/jpeg.h"
#include "tutti/data/mapped_file.h"
#include "tutti/data/png.h"
#include "tutti/data/resize.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <system_error>

namespace tutti::data {
namespace {

namespace fs = std::filesystem;

bool begins_with(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> signature) {
  return bytes.size() >= signature.size() &&
         std::equal(signature.begin(), signature.end(), bytes.begin());
}

std::vector<std::uint8_t> resized_plane(const Image& image, std::int64_t channel,
                                        std::int64_t height, std::int64_t width) {
  const auto pixels = image.pixels.begin() + channel * image.height * image.width;
  const std::vector<float> plane(pixels, pixels + image.height * image.width);
  std::vector<std::uint8_t> bytes;
  for (const float value : resize_bilinear(plane, image.height, image.width, height, width))
    bytes.push_back(static_cast<std::uint8_t>(std::lround(value)));
  return bytes;
}

Image resized(const Image& image, std::int64_t height, std::int64_t width) {
  Image result{image.channels, height, width};
  for (std::int64_t c = 0; c < image.channels; ++c) {
    const std::vector<std::uint8_t> plane = resized_plane(image, c, height, width);
    result.pixels.insert(result.pixels.end(), plane.begin(), plane.end());
  }
  return result;
}

Image centre_of(const Image& image, std::int64_t height, std::int64_t width) {
  Image result{image.channels, height, width};
  const std::int64_t top = (image.height - height) / 2, left = (image.width - width) / 2;
  for (std::int64_t c = 0; c < image.channels; ++c)
    for (std::int64_t y = 0; y < height; ++y) {
      const auto row = image.pixels.begin() + (c * image.height + top + y) * image.width + left;
      result.pixels.insert(result.pixels.end(), row, row + width);
    }
  return result;
}

}  // namespace

Fit fit_named(std::string_view name) { return name == "crop" ? Fit::crop : Fit::stretch; }

bool has_image_name(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

std::vector<std::string> images_below(const fs::path& folder) {
  std::error_code failed;
  std::vector<std::string> images;
  for (fs::recursive_directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const bool hidden = entry->path().filename().string().starts_with(".");
    if (hidden) entry.disable_recursion_pending();
    if (!hidden && !entry->is_directory() && has_image_name(entry->path()))
      images.push_back(entry->path().string());
  }
  if (failed) throw Error("cannot read the folder {}: {}", folder.string(), failed.message());
  std::sort(images.begin(), images.end());
  return images;
}

bool is_png(std::span<const std::uint8_t> bytes) {
  constexpr std::uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  return begins_with(bytes, signature);
}

bool is_jpeg(std::span<const std::uint8_t> bytes) {
  constexpr std::uint8_t signature[] = {0xff, 0xd8, 0xff};
  return begins_with(bytes, signature);
}

Image fitted(const Image& image, std::int64_t height, std::int64_t width, Fit fit) {
  if (image.height == height && image.width == width) return image;
  if (fit == Fit::stretch) return resized(image, height, width);
  // The least scale at which the image covers the wanted extents.
  const double scale = std::max(static_cast<double>(height) / static_cast<double>(image.height),
                                static_cast<double>(width) / static_cast<double>(image.width));
  const auto scaled = [&](std::int64_t extent, std::int64_t wanted) {
    return std::max<std::int64_t>(wanted, std::llround(static_cast<double>(extent) * scale));
  };
  return centre_of(resized(image, scaled(image.height, height), scaled(image.width, width)), height,
                   width);
}

Image read_image(const std::filesystem::path& path, std::int64_t channels, std::int64_t height,
                 std::int64_t width, Fit fit) {
  check(channels == 1 || channels == 3, "an image is read as gray or as red, green, blue");
  const MappedFile file(path);
  const auto bytes = file.bytes();
  if (is_png(bytes)) return fitted(decode_png(bytes, path.string(), channels), height, width, fit);
  if (is_jpeg(bytes))
    return fitted(decode_jpeg(bytes, path.string(), channels, height, width), height, width, fit);
  throw Error("{}: neither a PNG nor a JPEG image", path.string());
}

}  // namespace tutti::data
