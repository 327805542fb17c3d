// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/team.h"

#include "tutti/core/cores.h"
#include "tutti/core/error.h"

#include <omp.h>

#include <cstdlib>
#include <latch>
#include <system_error>
#include <thread>

namespace tutti::cpu {

namespace {

// Throws Error unless `count` more threads can be started. OpenMP would end the process instead.
void require_threads(int count) {
  std::latch all_tried(1);
  std::vector<std::jthread> started;
  try {
    for (int k = 0; k < count; ++k) started.emplace_back([&] { all_tried.wait(); });
    all_tried.count_down();
  } catch (const std::system_error& error) {
    all_tried.count_down();
    throw Error(
        "can't start the {} threads of a rank: {}; lower machine.threads, or raise ulimit -u or "
        "ulimit -v",
        count + 1, error.what());
  }
}

}  // namespace

void prepare_team(int threads, int rank, int ranks) {
  require_threads(threads - 1);
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
