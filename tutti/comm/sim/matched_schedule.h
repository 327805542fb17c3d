// SPDX-License-Identifier: Apache-2.0
// A schedule made ready to be simulated many times: messages without their elements, each knowing
// its other end.
#pragma once

#include "tutti/comm/schedule.h"

#include <cstdint>
#include <vector>

namespace tutti::sim {

struct MatchedSchedule {
  struct Message {
    bool sends = false;
    std::int32_t peer = 0;
    std::int32_t other_end = 0;  // in `messages`
    double bytes = 0;
  };
  struct Step {
    std::int32_t end = 0;    // its messages, which begin where those of the step before end
    double added_bytes = 0;  // by the rank when they have arrived: added or copied
  };

  int ranks = 1;
  std::vector<Message> messages;             // of rank 0, then of rank 1 …
  std::vector<Step> steps;                   // likewise
  std::vector<std::int32_t> first_messages;  // by rank, and the end
  std::vector<std::int32_t> first_steps;     // likewise
};

// Throws std::logic_error when a message has no counterpart of the same size.
MatchedSchedule matched(const collectives::Schedule& schedule);

}  // namespace tutti::sim
