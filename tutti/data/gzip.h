// SPDX-License-Identifier: Apache-2.0
// gzip'd bytes unpacked into memory; the checksum in the file is verified.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tutti::data {

inline bool is_gzip(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

// Throws Error, naming `file`, when the bytes are corrupt, cut off, or followed by bytes that are
// not gzip'd. Several gzip'd parts in a row are unpacked one after the other.
std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> packed, std::string_view file);

}  // namespace tutti::data
