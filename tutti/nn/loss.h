// SPDX-License-Identifier: Apache-2.0
// Losses: what a network is trained to make small, computed from its output, the labels or targets
// of the batch, and the weight of each sample. A new loss is an entry in loss.cpp.
#pragma once

#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/graph/graph.h"

#include <string>
#include <vector>

namespace tutti {

struct Net;

struct Loss {
  std::string name, doc;
  std::vector<Setting> settings = {};
  // Adds the loss of net.output; `settings` are resolved. Throws Error when the data has classes
  // but the loss needs targets, or the other way round.
  ValueId (*add)(Net& net, const Settings& settings) = nullptr;
};

// The list of losses. The first one, "auto", fits all data.
List<Loss> losses();

}  // namespace tutti
