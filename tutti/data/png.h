// SPDX-License-Identifier: Apache-2.0
// PNG images by libpng.
#pragma once

#include "tutti/data/image.h"

#include <span>
#include <string>

namespace tutti::data {

// Decodes a PNG of any kind as gray (channels = 1) or red, green, blue (channels = 3); transparent
// pixels are laid on black. `file` is named in messages. Throws Error when the image is damaged.
Image decode_png(std::span<const std::uint8_t> bytes, const std::string& file,
                 std::int64_t channels);

}  // namespace tutti::data
