// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/carry_state.h"

#include "tutti/core/error.h"
#include "tutti/ops/copy.h"

namespace tutti {

void carry_state(Graph& graph) {
  for (const Carried& one : graph.carried) {
    if (one.next == no_value) continue;
    const Value state = graph.value(one.state);
    if (graph.type(one.next) != state.type)
      throw Error(
          "the carried state '{}' is {} {}, but what follows it is {} {}, expected the same",
          state.name, name_of(state.type.dtype), to_string(state.type.shape),
          name_of(graph.type(one.next).dtype), to_string(graph.shape(one.next)));
    const ValueId left = graph.add1(ops::copy, {one.next});
    graph.value(left).name = state.name;
    graph.value(left).place = state.place;
  }
}

}  // namespace tutti
