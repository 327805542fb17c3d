// SPDX-License-Identifier: Apache-2.0
// Local rules say what a rank makes of its own gradient before the gradient travels. A new rule is
// a file in this folder and a line in local_rules.cpp.
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
  // How many flat vectors the rule keeps, with the table of the parameters and whole on every rank.
  // They stand behind the states of the update rule: those that checkpoints hold, then the others.
  int saved = 0, unsaved = 0;
  // Adds the node that changes a block which the backward pass has filled; nullptr: blocks stay as
  // they are. The rule's first vector is Base::optimizer + `first_state`; `part` is the rank's
  // share of the batch, as a fraction.
  void (*change)(BlockNodes&, FilledBlock&, int first_state, double part) = nullptr;
};

List<LocalRule> local_rules();

}  // namespace tutti
