// SPDX-License-Identifier: Apache-2.0
// PNG images as planes of floats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace tutti::data {

struct Image {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<float> pixels;  // channels × height × width, in [0, 1]
};

// Reads a PNG of any kind as gray (channels = 1) or red, green, blue (channels = 3); transparent
// pixels are laid on black. Throws Error when the file is missing, corrupt or not a PNG.
Image read_png(const std::filesystem::path& path, std::int64_t channels);

}  // namespace tutti::data
