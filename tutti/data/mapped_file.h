// SPDX-License-Identifier: Apache-2.0
// A file mapped into memory, read-only: pages are read when touched, so a file may be larger than
// memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace tutti::data {

class MappedFile {
 public:
  // Throws Error when the file is missing, unreadable or not a regular file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace tutti::data
