// SPDX-License-Identifier: Apache-2.0
// Runs a graph node by node with the plain references: the meaning of a graph, at any speed.
#pragma once

#include "tutti/graph/graph.h"

#include "contract/op_inputs.h"

#include <map>
#include <vector>

namespace tutti::contract {

// Outputs of one operator; they are filled with NaN before, so that what is not written shows.
inline std::vector<Array> run_reference(const Op& op, const Settings& settings,
                                        std::vector<Array> in, StepState step = {},
                                        int origin = 0) {
  Call call{.settings = settings, .in = {}, .out = {}, .step = step, .origin = origin};
  std::vector<Array> out;
  for (const Type& type : op.infer(settings, types_of(in))) out.push_back(unwritten_array(type));
  for (Array& array : in) call.in.push_back(array.tensor());
  for (Array& array : out) call.out.push_back(array.tensor());
  op.reference(call);
  return out;
}

// Values by id; `feeds` holds those without producer that nodes read.
using Values = std::map<ValueId, Array>;

inline Values evaluate(const Graph& graph, Values feeds, StepState step = {}) {
  Values values = std::move(feeds);
  for (const Node& node : graph.nodes) {
    std::vector<Array> in;
    for (ValueId id : node.inputs) in.push_back(id == no_value ? Array::none() : values.at(id));
    const std::vector<Array> out =
        run_reference(*node.op, node.settings, std::move(in), step, node.origin);
    for (std::size_t i = 0; i < out.size(); ++i) values.insert_or_assign(node.outputs[i], out[i]);
  }
  return values;
}

}  // namespace tutti::contract
