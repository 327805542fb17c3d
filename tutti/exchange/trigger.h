// SPDX-License-Identifier: Apache-2.0
// Triggers decide in which steps ranks exchange. A new trigger is a line in trigger.cpp.
#pragma once

#include "tutti/core/list.h"
#include "tutti/core/settings.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

struct Trigger {
  std::string name, doc;
  std::vector<Setting> settings = {};
  // Whether this rank's result of `step` is exchanged.
  bool (*push)(const Settings& settings, std::int64_t step) = nullptr;
};

List<Trigger> triggers();

}  // namespace tutti
