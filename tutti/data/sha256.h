// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), to verify files that were fetched.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tutti::data {

// The digest as 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::uint8_t> bytes);

}  // namespace tutti::data
