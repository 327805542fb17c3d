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
  // The messages of a rank that are under way together (they have one `Action::phase`), and what
  // follows them.
  struct Phase {
    std::int32_t end = 0;    // in `messages`; a phase begins where the one before it ends
    double added_bytes = 0;  // which the rank adds or copies when all messages have arrived
  };

  int ranks = 1;
  std::vector<Message> messages;             // of rank 0, then of rank 1 …
  std::vector<Phase> phases;                 // of rank 0, then of rank 1 …
  std::vector<std::int32_t> first_messages;  // in `messages`, by rank; the last is their number
  std::vector<std::int32_t> first_phases;    // in `phases`, by rank; the last is their number
};

// Throws std::logic_error when a message has no counterpart of the same size.
MatchedSchedule matched(const collectives::Schedule& schedule);

}  // namespace tutti::sim
