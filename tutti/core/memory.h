// SPDX-License-Identifier: Apache-2.0
// How much memory this process may have, and errors that say so when it is not enough.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace tutti {

// What bounds the memory of this process: the machine, its control group, or ulimit -v.
struct MemoryBound {
  std::int64_t bytes = 0;
  std::string text;  // "this machine has 23.5 GiB"
};
MemoryBound memory_bound();

// Throws Error when `what` takes more bytes than memory_bound(): the system would kill the process.
void require_memory(std::int64_t bytes, std::string_view what);

// Throws Error when a limit on the address space (ulimit -v) leaves less than `bytes`: for
// libraries that do not survive a failed allocation.
void require_address_space(std::int64_t bytes, std::string_view what);

// Resident memory of this process, now and at its peak so far; 0 where the system does not say.
std::int64_t resident_bytes();
std::int64_t peak_resident_bytes();

// The text of an error as a user should read it: reason and remedy are added to std::bad_alloc and
// to the failure to start a thread, whose own texts have neither.
std::string failure_text(const std::exception& error);

}  // namespace tutti
