// SPDX-License-Identifier: Apache-2.0
// Numbers of bytes as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

// "1.5 MiB".
std::string bytes_text(std::int64_t bytes);

// "512MB", "2 GiB", "4096": decimal or binary units; nothing when it is no such number.
std::optional<std::int64_t> bytes_in(std::string_view text);

}  // namespace tutti
