// SPDX-License-Identifier: Apache-2.0
// Times some training steps on all ranks, for the time line in the record and the file that --trace
// asks for. The first steps compile and fill caches, so they are left out where there are others.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/exec/program.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

// The timed step of median length, on the first few ranks; times are in seconds since this step
// began. The median is taken since other work of the machine may hold up a single step.
struct Timeline {
  std::int64_t step = 0;
  double seconds = 0;
  std::vector<double> step_seconds;  // of all timed steps, in their order
  TraceEvents events;
};

// What a rank did in a step; times are in seconds since the first timed step began.
struct TracedStep {
  double began = 0;
  TraceEvents events;
};

// The time line of the step of median length. `by_rank` has what each rank did in each step;
// `first_step` is the number of the first of these steps.
Timeline median_timeline(const std::vector<std::vector<TracedStep>>& by_rank,
                         std::int64_t first_step);

class Tracing {
 public:
  // Times `steps` steps. `total_steps` is the length of training; 0: not known. With an empty path
  // no file is written, and in a short run fewer steps are timed rather than one of the first.
  Tracing(Communicator& communicator, std::string path, std::int64_t steps, std::int64_t first_step,
          std::int64_t total_steps);

  // The profile for the program of this step; nullptr: the step is not timed.
  Profile* begin(std::int64_t step);
  // Called after every step. Behind the last timed step the events of all ranks come together on
  // rank 0, which writes the file and gets the time line.
  std::optional<Timeline> end(std::int64_t step, bool stops);

 private:
  std::optional<Timeline> collect();

  Communicator& communicator_;
  std::string path_;
  std::int64_t first_, end_;  // the timed steps
  double origin_ = 0;         // when the first of them began, on the clock of the rank
  Profile profile_;
  std::deque<TracedStep> steps_;  // programs keep pointers to their events
};

}  // namespace tutti
