// SPDX-License-Identifier: Apache-2.0
// Times some steps of a run on all ranks, for the time line in the record and the file that --trace
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

// The median of the steps that were timed, as it was on some ranks; times are in seconds since it
// began. One step may be held up by anything else that the machine does.
struct Timeline {
  std::int64_t step = 0;
  double seconds = 0;
  std::vector<double> step_seconds;  // of all that were timed, in their order
  TraceEvents events;
};

// What a rank did in a step; times are since the first of the timed steps began.
struct TracedStep {
  double began = 0;
  TraceEvents events;
};

// The time line of the step of median length, given what each rank did in each of the steps, of
// which the first has this number.
Timeline median_timeline(const std::vector<std::vector<TracedStep>>& by_rank,
                         std::int64_t first_step);

class Tracing {
 public:
  // `total_steps` of the run, 0: not known. An empty path: no file is written, and a short run has
  // fewer steps timed rather than one of the first.
  Tracing(Communicator& communicator, std::string path, std::int64_t steps, std::int64_t first_step,
          std::int64_t total_steps);

  // To be given to the program of this step; nullptr: it is not timed.
  Profile* begin(std::int64_t step);
  // After every step. Behind the last one that is timed, all ranks' events come together on rank 0,
  // which writes the file and gets the time line.
  std::optional<Timeline> end(std::int64_t step, bool stops);

 private:
  std::optional<Timeline> collect();

  Communicator& communicator_;
  std::string path_;
  std::int64_t first_, end_;
  double origin_ = 0;  // on the clock of the rank
  Profile profile_;
  std::deque<TracedStep> steps_;  // programs keep pointers to their events
};

}  // namespace tutti
