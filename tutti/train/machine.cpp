// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/machine.h"

#include <omp.h>

#include <fstream>
#include <string>

namespace tutti {
namespace {

std::int64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::stoll(line.substr(name.size())) * 1024;
  return 0;
}

}  // namespace

int available_cores() { return omp_get_num_procs(); }

std::int64_t resident_bytes() { return status_bytes("VmRSS:"); }
std::int64_t peak_resident_bytes() { return status_bytes("VmHWM:"); }

}  // namespace tutti
