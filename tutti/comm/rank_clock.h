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

  // What follows is for virtual clocks; a real one does nothing.
  // The rank has computed for so long on a machine of speed 1.
  virtual void spend(double) {}
  // Complete when so many bytes would have been added, beside computing.
  virtual Request charge_additions(std::int64_t) { return {}; }
  // Others go on until something has happened to this rank; false: time is real.
  virtual bool give_way() { return false; }
};

}  // namespace tutti
