// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/memory.h"

#include "tutti/core/bytes.h"
#include "tutti/core/error.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>
#include <system_error>

namespace tutti {
namespace {

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
constexpr const char* remedy =
    "a smaller network, train.batch or train.evaluation_batch needs less (see tutti show)";

// "MemTotal:       24683724 kB"
std::int64_t machine_bytes() {
  std::ifstream file("/proc/meminfo");
  std::int64_t kilobytes = 0;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemTotal:") || line.starts_with("SwapTotal:"))
      kilobytes += std::strtoll(line.c_str() + line.find(':') + 1, nullptr, 10);
  return kilobytes > 0 ? kilobytes * 1024 : any;
}

// The file holds "max", or a very large number, where the control group has no limit.
std::int64_t group_bytes() {
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    if (std::int64_t bytes = 0; file >> bytes && bytes > 0) return bytes;
  }
  return any;
}

std::int64_t address_space_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return any;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

// "VmRSS:     123456 kB"
std::int64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::stoll(line.substr(name.size())) * 1024;
  return 0;
}

}  // namespace

std::int64_t resident_bytes() { return status_bytes("VmRSS:"); }
std::int64_t peak_resident_bytes() { return status_bytes("VmHWM:"); }

MemoryBound memory_bound() {
  MemoryBound bound{machine_bytes(), "this machine has "};
  if (const std::int64_t bytes = group_bytes(); bytes < bound.bytes)
    bound = {bytes, "its control group allows "};
  if (const std::int64_t bytes = address_space_bytes(); bytes < bound.bytes)
    bound = {bytes, "ulimit -v allows "};
  bound.text += bytes_text(bound.bytes);
  return bound;
}

void require_memory(std::int64_t bytes, std::string_view what) {
  const MemoryBound bound = memory_bound();
  if (bytes > bound.bytes)
    throw Error("not enough memory: {} would take {}, but {}; {}", what, bytes_text(bytes),
                bound.text, remedy);
}

void require_address_space(std::int64_t bytes, std::string_view what) {
  if (address_space_bytes() == any) return;
  const auto count = static_cast<std::size_t>(bytes);
  void* const trial = mmap(nullptr, count, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (trial == MAP_FAILED)
    throw Error("not enough memory: {} needs {} more, but {} in all; raise that, or {}", what,
                bytes_text(bytes), memory_bound().text, remedy);
  munmap(trial, count);
}

std::string failure_text(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return fmt::format("not enough memory: {}; {}", memory_bound().text, remedy);
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
    return fmt::format(
        "can't start another thread: {}; fewer ranks (partition.data), machine.threads or "
        "train.readers need less, or raise ulimit -u or ulimit -v",
        error.what());
  return error.what();
}

}  // namespace tutti
