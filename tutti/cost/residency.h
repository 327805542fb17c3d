// SPDX-License-Identifier: Apache-2.0
// Where the data of a node come from: what was touched long ago has left the caches. The distance
// of a use is the number of bytes that the step touched since the last use of the same memory.
#pragma once

#include "tutti/cost/machine.h"
#include "tutti/graph/graph.h"

#include <vector>

namespace tutti {

// Per node: seconds in which a copy would touch the same memory, in a step that is repeated. Values
// must have their places.
std::vector<double> fetch_seconds(const Graph& graph, const std::vector<StreamSample>& stream);

}  // namespace tutti
