// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/tensor.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace tutti {
namespace {

constexpr std::size_t line = 64, page = 4096, huge_page = 1 << 21;

std::size_t alignment_of(std::int64_t bytes) {
  if (bytes >= static_cast<std::int64_t>(2 * huge_page)) return huge_page;
  return bytes >= (1 << 16) ? page : line;
}

}  // namespace

Buffer::Buffer(std::int64_t bytes) : bytes_(bytes) {
  check(bytes >= 0, "a buffer has a size");
  const std::size_t alignment = alignment_of(bytes);
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + alignment) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (memory == nullptr) throw Error("out of memory: could not allocate {} bytes", bytes);
  // A hint, refused where there are none: large vectors then miss the TLB less often.
  if (alignment == huge_page) madvise(memory, rounded, MADV_HUGEPAGE);
  std::memset(memory, 0, rounded);
  memory_.reset(memory);
}

void Buffer::Free::operator()(std::byte* memory) const { std::free(memory); }

}  // namespace tutti
