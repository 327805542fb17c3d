// SPDX-License-Identifier: Apache-2.0
// Virtual ranks that all do the same list of tasks.
#pragma once

#include "tutti/comm/sim/virtual_ranks.h"

#include <vector>

namespace tutti::sim {

struct Task {
  enum Kind { compute, start, wait };
  Kind kind = compute;
  int subject = 0;     // an operation, or what is computed
  double seconds = 0;  // of compute
};

inline std::vector<RankTimes> run_tasks(VirtualRanks& ranks, int count,
                                        const std::vector<Task>& tasks, int rounds = 1) {
  std::vector<std::size_t> done(static_cast<std::size_t>(count));
  return ranks.run([&](int rank) {
    for (std::size_t& next = done[static_cast<std::size_t>(rank)];
         next < tasks.size() * static_cast<std::size_t>(rounds); ++next) {
      const Task& task = tasks[next % tasks.size()];
      if (task.kind == Task::start) ranks.start(task.subject, rank);
      if (task.kind == Task::compute) {
        ++next;
        return ranks.compute(rank, task.subject, task.seconds);
      }
      if (task.kind == Task::wait) {
        const auto wait = ranks.try_wait(task.subject, rank);
        if (wait == VirtualRanks::Wait::computes) return;
        if (wait == VirtualRanks::Wait::not_yet) return ranks.wait(rank, task.subject);
      }
    }
    ranks.end(rank);
  });
}

}  // namespace tutti::sim
