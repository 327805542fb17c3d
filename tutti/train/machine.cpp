// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/machine.h"

#include <omp.h>

#include <fstream>

namespace tutti {

int available_cores() { return omp_get_num_procs(); }

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown";
}

}  // namespace tutti
