// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/output_file.h"

#include "tutti/core/error.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace tutti {

OutputFile::OutputFile(std::string path, Existing existing) : path_(std::move(path)) {
  const int mode = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  descriptor_ = ::open(path_.c_str(), existing == Existing::append ? mode : mode | O_TRUNC, 0644);
  if (descriptor_ < 0)
    throw Error("can't write {}: {}; give a file in a folder that exists and may be written", path_,
                std::strerror(errno));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(const void* data, std::int64_t bytes) {
  const char* next = static_cast<const char*>(data);
  std::int64_t left = bytes;
  while (left > 0) {
    const ssize_t written = ::write(descriptor_, next, static_cast<std::size_t>(left));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      const off_t end = ::lseek(descriptor_, 0, SEEK_END);
      // Fails on devices and pipes, where there is nothing to cut.
      if (end >= 0) [[maybe_unused]]
        const int cut = ::ftruncate(descriptor_, end - (bytes - left));
      throw Error("can't write {}: {}; free some space or choose another place", path_,
                  std::strerror(reason));
    }
    next += written;
    left -= written;
  }
}

void OutputFile::sync() {
  // Devices and pipes can't be synchronised (EINVAL) and need not be.
  if (::fsync(descriptor_) != 0 && errno != EINVAL)
    throw Error("can't write {} to the disk: {}", path_, std::strerror(errno));
}

void sync_folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && (::fsync(descriptor) == 0 || errno == EINVAL);
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) throw Error("can't write folder {} to the disk: {}", folder, std::strerror(reason));
}

}  // namespace tutti
