// SPDX-License-Identifier: Apache-2.0
#include "bench/cores.h"

#include <sched.h>

namespace tutti::bench {

const std::vector<int>& cores() {
  static const std::vector<int> all = [] {
    std::vector<int> found;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
      for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) found.push_back(core);
    return found;
  }();
  return all;
}

void use_cores(const std::vector<int>& chosen) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : chosen) CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace tutti::bench
