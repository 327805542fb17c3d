// SPDX-License-Identifier: Apache-2.0
// Local rules say what a rank makes of its own gradient before that travels: rule.local of the
// worker loop. A new one is a file in this folder and a line in local_rules.cpp.
#pragma once

#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/exchange/objection.h"

#include <string>
#include <vector>

namespace tutti {

class BlockNodes;
struct FilledBlock;

struct LocalRule {
  std::string name, doc;
  std::vector<Setting> settings = {};
  Objection objection = nullptr;
  // Vectors with the table of the parameters, whole on every rank, behind the states of the update
  // rule: those that checkpoints hold, then others.
  int saved = 0, unsaved = 0;
  // Adds the node that changes a block which the backward pass has filled; nullptr: it stays. The
  // first of its vectors is Base::optimizer + `first_state`; the rank has `part` of the samples.
  void (*change)(BlockNodes&, FilledBlock&, int first_state, double part) = nullptr;
};

List<LocalRule> local_rules();

}  // namespace tutti
