// SPDX-License-Identifier: Apache-2.0
// The clock of a rank: real, or virtual where ranks are simulated. A virtual clock goes on only
// while its rank waits or spends time.
#pragma once

#include "tutti/comm/request.h"
#include "tutti/core/clock.h"

#include <cstdint>

namespace tutti {

class RankClock {
 public:
  virtual ~RankClock() = default;
  virtual double seconds() const { return steady_seconds(); }

  // What follows is for virtual clocks; a real clock does nothing.
  // Lets virtual time pass while the rank computes what would take so many seconds at speed 1.
  virtual void spend(double) {}
  // A request that is complete when so many bytes would have been added, beside computing.
  virtual Request charge_additions(std::int64_t) { return {}; }
  // Lets other ranks go on until something has happened to this one; false, at once, where time is
  // real.
  virtual bool give_way() { return false; }
};

}  // namespace tutti
