// SPDX-License-Identifier: Apache-2.0
// Addresses of the deferred back end have their top bit set: no memory lies there, so code that
// takes them for host memory faults. The copies and kernels of the back end clear the bit.
#pragma once

#include "tutti/core/error.h"

#include <cstdint>

namespace tutti::deferred {

inline constexpr std::uintptr_t tag = std::uintptr_t{1} << 63;

inline bool is_tagged(const void* address) {
  return (reinterpret_cast<std::uintptr_t>(address) & tag) != 0;
}

// The device address of a host address.
template <class T>
T* tagged(T* address) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(address) | tag);
}

// The host address of a device address; nullptr for nullptr.
template <class T>
T* untagged(T* address) {
  if (address == nullptr) return nullptr;
  check(is_tagged(address), "kernels of a device are given its memory");
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(address) & ~tag);
}

}  // namespace tutti::deferred
