// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/tensor.h"

#include "tutti/core/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace tutti {
namespace {

constexpr std::size_t line = 64, page = 4096, huge_page = 1 << 21;

// Maps zero-filled memory of whole huge pages. A page takes memory only once it is written. Returns
// nullptr when there is not enough.
std::byte* map_huge_pages(std::size_t bytes) {
  void* const mapped =
      mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t behind = reinterpret_cast<std::uintptr_t>(begin) % huge_page;
  const std::size_t skipped = behind == 0 ? 0 : huge_page - behind;
  if (skipped > 0) munmap(begin, skipped);
  munmap(begin + skipped + bytes, huge_page - skipped);
  // A hint, which a system without huge pages refuses: large vectors miss the TLB less often.
  madvise(begin + skipped, bytes, MADV_HUGEPAGE);
  return begin + skipped;
}

std::byte* allocate_zeros(std::size_t alignment, std::size_t bytes) {
  void* const memory = std::aligned_alloc(alignment, bytes);
  if (memory != nullptr) std::memset(memory, 0, bytes);
  return static_cast<std::byte*>(memory);
}

}  // namespace

Buffer::Buffer(std::int64_t bytes) : bytes_(bytes) {
  check(bytes >= 0, "a buffer has a size");
  const bool large = bytes >= static_cast<std::int64_t>(2 * huge_page);
  const std::size_t alignment = large ? huge_page : bytes >= (1 << 16) ? page : line;
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + alignment) / alignment * alignment;
  std::byte* const memory = large ? map_huge_pages(rounded) : allocate_zeros(alignment, rounded);
  if (memory == nullptr) {
    require_memory(bytes, "one buffer");
    throw std::bad_alloc();
  }
  memory_ = {memory, Free{large ? rounded : 0}};
}

void Buffer::Free::operator()(std::byte* memory) const {
  if (mapped_bytes > 0)
    munmap(memory, mapped_bytes);
  else
    std::free(memory);
}

}  // namespace tutti
