// SPDX-License-Identifier: Apache-2.0
// Gates decide when a rank may begin a step: the consistency of a run. A new gate is a line in
// gate.cpp.
#pragma once

#include "tutti/core/list.h"
#include "tutti/core/settings.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

struct Gate {
  std::string name, doc;
  std::vector<Setting> settings = {};
  // Returns when this rank may begin `step`.
  void (*wait)(const Settings& settings, std::int64_t step) = nullptr;
};

List<Gate> gates();

}  // namespace tutti
