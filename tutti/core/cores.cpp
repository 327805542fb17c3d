// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/cores.h"

#include <omp.h>
#include <sched.h>

#include <fstream>

namespace tutti {
namespace {

void run_on(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores) CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);  // a hint: the system may refuse it
}

}  // namespace

const std::vector<int>& allowed_cores() {
  static const std::vector<int> cores = [] {
    std::vector<int> found;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
      for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) found.push_back(core);
    return found;
  }();
  return cores;
}

// Not the number of allowed cores: OpenMP may have bound this thread before the first call of
// allowed_cores().
int available_cores() { return omp_get_num_procs(); }

void run_on_core(int core) { run_on({core}); }
void run_on_any_core() { run_on(allowed_cores()); }

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown";
}

}  // namespace tutti
