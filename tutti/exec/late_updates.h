// SPDX-License-Identifier: Apache-2.0
// Updates that cross the end of a step (C03): each waits for its sum in the next run of the
// program, just before the first node that needs what it changes. So gradients go on travelling
// during the next forward pass, the most urgent first. Sums that come in early, in the first half
// of the backward pass, are used at once, so that new weights travel then too; later they would be
// in the way of the last sums, which the next run needs first.
#pragma once

#include "tutti/graph/graph.h"
#include "tutti/graph/memory_plan.h"

#include <functional>
#include <vector>

namespace tutti {

struct LateUpdates {
  // Nothing of the update lies where the next run puts other things: in the arena, in the batch.
  bool possible = false;
  // By node of the next run: nodes of the update to run before it, in this order; those of their
  // messages whose results it needs; messages of the run before that must be over, because it
  // writes what they read or write.
  std::vector<std::vector<NodeId>> before, results, over;
  // By message: the node of the next run that first needs what depends on it.
  std::vector<int> urgency;
  // By node of the update: the node of its own run from which on it could be done. None from there
  // on reads or writes what it changes, or writes what it reads.
  std::vector<int> from;
  // Sums that are there while the nodes [first_from, last_from) run are used at once.
  int first_from = 0, last_from = 0;
};

// The update is the nodes from `first_update` on.
LateUpdates plan_late_updates(const Graph& graph, const MemoryPlan& memory, int first_update,
                              const std::function<bool(const Node&)>& is_message);

}  // namespace tutti
