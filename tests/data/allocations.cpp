// SPDX-License-Identifier: Apache-2.0
#include "data/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<long> calls = 0;

void* operator new(std::size_t bytes) {
  ++calls;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tutti::data {

long allocations() { return calls; }

}  // namespace tutti::data
