// SPDX-License-Identifier: Apache-2.0
// Updates that cross the end of a step (C03): each waits for its sum in the next step, just before
// the first node that needs what the update changes. So gradients go on travelling during the next
// forward, the most urgent first. Sums that arrive early in backward are used at once, so that new
// weights travel then too; later these would delay the last sums, which the next step needs first.
#pragma once

#include "tutti/graph/graph.h"
#include "tutti/graph/memory_plan.h"

#include <functional>
#include <vector>

namespace tutti {

struct LateUpdates {
  // Whether updates can be postponed: nothing of them lies where the next step puts other data, in
  // the arena or in the batch.
  bool possible = false;
  // By node of the next step. `before`: nodes of the update to run before it, in this order.
  // `results`: messages of the update whose results it needs. `over`: messages of the step before
  // that must be complete, because the node writes what they read or write.
  std::vector<std::vector<NodeId>> before, results, over;
  // By node that is a message: the node of the next step that first needs what depends on the
  // message.
  std::vector<int> urgency;
  // By node of the update: the node of its own step from which on it may be done. No node between
  // there and the update reads or writes what it changes, or writes what it reads.
  std::vector<int> from;
  // While the nodes [first_from, last_from) run, sums that have arrived are used at once.
  int first_from = 0, last_from = 0;
};

// Plans the postponing of the update, which is the nodes from `first_update` on.
LateUpdates plan_late_updates(const Graph& graph, const MemoryPlan& memory, int first_update,
                              const std::function<bool(const Node&)>& is_message);

}  // namespace tutti
