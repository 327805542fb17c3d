// SPDX-License-Identifier: Apache-2.0
// Triggers decide in which steps ranks exchange. A new trigger is a file in this folder and a line
// in triggers.cpp.
#pragma once

#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/exchange/objection.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

struct Trigger {
  std::string name, doc;
  std::vector<Setting> settings = {};
  Objection objection = nullptr;
  // Whether a rank takes new weights before `step`, and whether it hands on the result of `step`.
  bool (*pull)(const Settings& settings, std::int64_t step) = nullptr;
  bool (*push)(const Settings& settings, std::int64_t step) = nullptr;
};

List<Trigger> triggers();

}  // namespace tutti
