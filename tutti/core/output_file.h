// SPDX-License-Identifier: Apache-2.0
// A file being written. Whatever goes wrong (folder missing or read-only, disk full) is an Error
// that names the file.
#pragma once

#include <cstdint>
#include <string>

namespace tutti {

class OutputFile {
 public:
  enum class Existing { append, replace };

  OutputFile(std::string path, Existing existing);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Writes all bytes. When that fails, a regular file is cut back to its length before the call.
  void write(const void* data, std::int64_t bytes);
  // Returns when the content is on the disk.
  void sync();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

// Makes renames and removals in the folder that holds `path` survive a power cut.
void sync_folder_of(const std::string& path);

}  // namespace tutti
