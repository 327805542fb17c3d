// SPDX-License-Identifier: Apache-2.0
// Times some steps of a run on all ranks: one, for the time line in the record, or those that
// --trace asks for. The first steps compile and fill caches, so they are left out where there are
// others.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/exec/program.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

// One step of some ranks; times are in seconds since it began.
struct Timeline {
  std::int64_t step = 0;
  double seconds = 0;
  TraceEvents events;
};

class Tracing {
 public:
  // `total_steps` of the run, 0: not known. An empty path: no file is written.
  Tracing(Communicator& communicator, std::string path, std::int64_t steps, std::int64_t first_step,
          std::int64_t total_steps);

  // To be given to the program of this step; nullptr: it is not timed.
  Profile* begin(std::int64_t step);
  // After every step. Behind the last one that is timed, all ranks' events come together on rank 0,
  // which writes the file and gets the time line of that step.
  std::optional<Timeline> end(std::int64_t step, bool stops);

 private:
  std::optional<Timeline> collect(std::int64_t step);

  Communicator& communicator_;
  std::string path_;
  std::int64_t first_, end_;
  double origin_ = 0, step_began_ = 0;  // on the clock of the rank
  std::size_t step_events_ = 0;         // where those of the step begin
  Profile profile_;
  TraceEvents events_;
};

}  // namespace tutti
