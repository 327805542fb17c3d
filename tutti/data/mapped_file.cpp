// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/mapped_file.h"

#include "tutti/core/error.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace tutti::data {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int code) {
  throw Error("cannot read {}: {}", path.string(), std::generic_category().message(code));
}

// Closes the descriptor when the mapping is made or has failed.
struct Descriptor {
  int value;
  ~Descriptor() { ::close(value); }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // O_NONBLOCK: a named pipe is refused below instead of waited for.
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (opened < 0) fail(path, errno);
  const Descriptor file{opened};
  struct stat status = {};
  if (::fstat(file.value, &status) != 0) fail(path, errno);
  if (!S_ISREG(status.st_mode))
    throw Error("cannot read {}: it is not a regular file; expected a file, not a folder or device",
                path.string());
  const auto length = static_cast<std::size_t>(status.st_size);
  if (length == 0) return;
  void* memory = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (memory == MAP_FAILED) fail(path, errno);
  bytes_ = {static_cast<const std::uint8_t*>(memory), length};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace tutti::data
