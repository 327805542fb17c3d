// SPDX-License-Identifier: Apache-2.0
// Goes through a schedule as the ranks would, in an order that its messages allow.
#pragma once

#include "tutti/comm/schedule.h"

namespace tutti::collectives {

// Is told of the messages and phases of a schedule, in the order of the walk.
class Visitor {
 public:
  virtual ~Visitor() = default;
  // Both ranks have come to the message; `in` receives what `out` sends.
  virtual void message(int from, int to, const Action& out, const Action& in) = 0;
  // All messages of a phase of this rank have been seen; the actions of the phase are [begin, end).
  virtual void phase(int rank, const Action* begin, const Action* end) = 0;
};

// Throws std::logic_error when a message has no counterpart of the same size, or when ranks wait
// for each other for ever.
void walk(const Schedule& schedule, Visitor& visitor);

}  // namespace tutti::collectives
