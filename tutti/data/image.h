// SPDX-License-Identifier: Apache-2.0
// Images in files: PNG or JPEG, told by their first bytes, as planes of bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::data {

struct Image {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<std::uint8_t> pixels = {};  // channels × height × width
};

// How an image is brought to other extents.
enum class Fit {
  crop,     // resized to cover the extents, then the centre is cut out: proportions stay
  stretch,  // both sides are resized, whatever the proportions
};

// The value with this name in a recipe.
Fit fit_named(std::string_view name);

bool is_png(std::span<const std::uint8_t> bytes);
bool is_jpeg(std::span<const std::uint8_t> bytes);

// Whether the name ends as those of PNG and JPEG files do.
bool has_image_name(const std::filesystem::path& path);

// All files with such names in the folder and in the folders below it, sorted; hidden files and
// folders are left out.
std::vector<std::string> images_below(const std::filesystem::path& folder);

// The image in the file at `path` as gray (channels = 1) or red, green, blue (channels = 3), at
// height × width. Throws Error when the file is missing, damaged or neither PNG nor JPEG.
Image read_image(const std::filesystem::path& path, std::int64_t channels, std::int64_t height,
                 std::int64_t width, Fit fit);

// The image brought to height × width.
Image fitted(const Image& image, std::int64_t height, std::int64_t width, Fit fit);

}  // namespace tutti::data
