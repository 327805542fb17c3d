// SPDX-License-Identifier: Apache-2.0
// Numbers of bytes as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

// The number in binary units: "1.50 MiB", "512 B".
std::string bytes_text(std::int64_t bytes);

// The number of bytes in a text such as "512MB", "2 GiB" or "4096", in decimal or binary units;
// nothing when the text is no such number.
std::optional<std::int64_t> bytes_in(std::string_view text);

}  // namespace tutti
