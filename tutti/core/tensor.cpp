// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/tensor.h"

#include <cstdlib>
#include <cstring>

namespace tutti {

Buffer::Buffer(std::int64_t bytes) : bytes_(bytes) {
  check(bytes >= 0, "a buffer has a size");
  const std::size_t alignment = bytes >= (1 << 16) ? 4096 : 64;
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + alignment) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (memory == nullptr) throw Error("out of memory: could not allocate {} bytes", bytes);
  std::memset(memory, 0, rounded);
  memory_.reset(memory);
}

void Buffer::Free::operator()(std::byte* memory) const { std::free(memory); }

}  // namespace tutti
