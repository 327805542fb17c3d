// SPDX-License-Identifier: Apache-2.0
// Gates decide when a rank may begin a step: the consistency of training. A new gate is a file in
// this folder and a line in gates.cpp.
#pragma once

#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/exchange/objection.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

// How many steps have been ended: by this rank, and by the slowest rank.
struct Clocks {
  std::int64_t own = 0, slowest = 0;
};

struct Gate {
  std::string name, doc;
  std::vector<Setting> settings = {};
  Objection objection = nullptr;
  // Ranks exchange by collectives inside the step. Otherwise each rank goes its own way, and the
  // store is cut over endpoints beside the ranks, which apply what is pushed to them and answer
  // with new weights.
  bool meets = true;
  // Whether a rank with these clocks may begin its next step.
  bool (*may_begin)(const Settings& settings, const Clocks& clocks) = nullptr;
};

List<Gate> gates();

}  // namespace tutti
