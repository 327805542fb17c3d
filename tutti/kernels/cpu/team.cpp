// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/team.h"

#include "tutti/core/cores.h"

#include <omp.h>

#include <cstdlib>

namespace tutti::cpu {

void prepare_team(int threads, int rank, int ranks) {
  omp_set_num_threads(threads);
  const std::vector<int>& cores = allowed_cores();
  if (std::getenv("OMP_PROC_BIND") != nullptr || std::getenv("GOMP_CPU_AFFINITY") != nullptr)
    return;
  if (static_cast<std::size_t>(threads) * static_cast<std::size_t>(ranks) > cores.size()) return;
    // Each thread binds itself once the team exists; binding the first one before would make the
    // others inherit its core.
#pragma omp parallel num_threads(threads)
  run_on_core(cores[static_cast<std::size_t>(rank * threads + omp_get_thread_num())]);
}

}  // namespace tutti::cpu
