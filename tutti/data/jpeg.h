// SPDX-License-Identifier: Apache-2.0
// JPEG images by libjpeg-turbo.
#pragma once

#include "tutti/data/image.h"

#include <span>
#include <string>

namespace tutti::data {

// Decodes a JPEG as gray (channels = 1) or red, green, blue (channels = 3); `file` is named in
// messages. An image of at least twice the least extents is decoded at a half, a quarter or an
// eighth of its size, which is several times as fast; least extents of 0 ask for the full size.
// Throws Error when the image is damaged.
Image decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& file,
                  std::int64_t channels, std::int64_t least_height = 0,
                  std::int64_t least_width = 0);

}  // namespace tutti::data
