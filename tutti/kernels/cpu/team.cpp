// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/team.h"

#include <omp.h>
#include <sched.h>

#include <cstdlib>
#include <vector>

namespace tutti::cpu {
namespace {

// The cores this process may run on, as they were before any thread was bound.
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

}  // namespace

void prepare_team(int threads, int rank, int ranks) {
  omp_set_num_threads(threads);
  const std::vector<int>& cores = allowed_cores();
  if (std::getenv("OMP_PROC_BIND") != nullptr || std::getenv("GOMP_CPU_AFFINITY") != nullptr)
    return;
  if (static_cast<std::size_t>(threads) * static_cast<std::size_t>(ranks) > cores.size()) return;
    // Each thread binds itself once the team exists; binding the first one before would make the
    // others inherit its core.
#pragma omp parallel num_threads(threads)
  {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cores[static_cast<std::size_t>(rank * threads + omp_get_thread_num())], &own);
    sched_setaffinity(0, sizeof own, &own);
  }
}

}  // namespace tutti::cpu
