// SPDX-License-Identifier: Apache-2.0
#include "exec/allocations.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tutti::test {
namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> ours{0}, foreign{0};
std::atomic<std::size_t> largest{0};
thread_local bool looking = false;  // looking at the stack may allocate

enum class Owner { program, standard_library, other };

Owner owner_of(void* address) {
  Dl_info info, program;
  // Code made at run time belongs to no object: oneDNN's.
  if (dladdr(address, &info) == 0) return Owner::other;
  dladdr(reinterpret_cast<void*>(&start_counting), &program);
  if (info.dli_fbase == program.dli_fbase) return Owner::program;
  return std::strstr(info.dli_fname, "libstdc++") != nullptr ? Owner::standard_library
                                                             : Owner::other;
}

// Who wanted the memory that code at `caller` asked for: the library asks for others.
Owner wanted_by(void* caller) {
  if (owner_of(caller) != Owner::standard_library) return owner_of(caller);
  void* frames[32];
  const int depth = backtrace(frames, 32);
  void** frame = std::find(frames, frames + depth, caller);
  while (frame != frames + depth && owner_of(*frame) == Owner::standard_library) ++frame;
  return frame == frames + depth ? Owner::other : owner_of(*frame);
}

void note(std::size_t bytes, void* caller) {
  if (!counting.load(std::memory_order_relaxed) || looking) return;
  looking = true;
  (wanted_by(caller) == Owner::program ? ours : foreign).fetch_add(1);
  std::size_t seen = largest.load();
  while (bytes > seen && !largest.compare_exchange_weak(seen, bytes)) {
  }
  looking = false;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void start_counting() {
  void* frame[1];
  backtrace(frame, 1);  // loads what it needs the first time
  ours = foreign = 0;
  largest = 0;
  counting = true;
}

Allocations stop_counting() {
  counting = false;
  return {ours, foreign, largest};
}

}  // namespace tutti::test

// All forms that are in use: sanitizers bring their own for those left out.
void* operator new(std::size_t bytes) {
  tutti::test::note(bytes, __builtin_return_address(0));
  return tutti::test::allocate(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  tutti::test::note(bytes, __builtin_return_address(0));
  return tutti::test::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  tutti::test::note(bytes, __builtin_return_address(0));
  return tutti::test::allocate(bytes, alignof(std::max_align_t));
}
void* operator new[](std::size_t bytes) {
  tutti::test::note(bytes, __builtin_return_address(0));
  return tutti::test::allocate(bytes, alignof(std::max_align_t));
}
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
