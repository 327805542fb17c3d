// SPDX-License-Identifier: Apache-2.0
// An operator is a struct: its name, settings, shapes, gradient as graph nodes, cost, sharding rule
// and plain reference. Operators are pure: the same inputs, settings and step state give the same
// outputs.
#pragma once

#include "tutti/core/settings.h"
#include "tutti/core/step_state.h"
#include "tutti/core/tensor.h"
#include "tutti/graph/cost.h"
#include "tutti/graph/graph.h"

#include <string>
#include <vector>

namespace tutti {

// The arguments of a reference: plain row-major tensors; absent optional inputs have data ==
// nullptr.
struct Call {
  const Settings& settings;
  std::vector<Tensor> in;
  std::vector<Tensor> out;
  StepState step = {};
  int origin = 0;
};

// A size at which the contract tests run the operator.
struct OpCase {
  Settings settings;
  std::vector<Type> in;
  std::int64_t classes = 3;  // integer inputs are drawn from [0, classes)
};

// Output `out` may be computed over the memory of input `in`.
struct InPlace {
  int in = 0, out = 0;
};

// What ranks do together to carry out an operator; none: each rank computes it alone.
enum class MessageKind {
  none,
  allreduce,
  reduce_scatter,
  allgather,
  broadcast,
  barrier,
  send,
  receive
};
// How ranks carry out an operator together, and in which memory.
struct OpMessage {
  MessageKind kind = MessageKind::none;
  // True: the message works on the memory of the node's first input; false: on that of its output.
  bool on_input = false;
  // An input that does not lie there is copied into the output first; for an allgather, to the
  // place of the rank's part in it.
  bool copies_input = false;
};

struct Op {
  std::string name;
  std::string doc;
  std::vector<Setting> settings = {};

  // Output types; throws Error("[name] …") when inputs or settings don't fit together.
  std::vector<Type> (*infer)(const Settings&, const std::vector<Type>& in) = nullptr;

  // Adds the nodes of the vector–Jacobian product and returns one gradient per input (no_value
  // where none flows). dy holds no_value for outputs that nothing depends on. nullptr:
  // `undifferentiable` says why.
  std::vector<ValueId> (*gradient)(Graph&, const Node&, const std::vector<ValueId>& dy) = nullptr;
  std::string undifferentiable = "";

  Cost (*cost)(const Settings&, const std::vector<Type>& in,
               const std::vector<Type>& out) = nullptr;

  // Index notation, see sharding.h. nullptr: the operator works on the rank's own data only and is
  // never partitioned (range and communication operators).
  std::string (*sharding)(const Settings&, const std::vector<Type>& in) = nullptr;

  // Plain loops, float or double. nullptr: the operator is carried out by the executor.
  void (*reference)(const Call&) = nullptr;

  std::vector<OpCase> (*cases)() = nullptr;  // for the contract tests

  std::vector<InPlace> in_place = {};
  bool view = false;  // the output is the input's memory under another shape
  // Draws random numbers by (step key, origin, global element index); the index follows from the
  // setting sample_rows (passes/sample_rows.h).
  bool random = false;
  bool linear = false;  // jointly linear in all inputs: partial sums pass through
  bool bf16 = false;    // takes and returns bf16, which other operators refuse

  // The executor carries the message out in the group of the mesh axes that the setting `axes`
  // names.
  OpMessage message = {};
};

// Whether ranks carry out the node together.
inline bool is_message(const Node& node) { return node.op->message.kind != MessageKind::none; }
// Whether a message carries data: a barrier does not.
inline bool has_operand(const Node& node) { return node.op->message.kind != MessageKind::barrier; }
// The value whose memory a message works on.
inline ValueId operand_of(const Node& node) {
  return node.op->message.on_input ? node.inputs[0] : node.outputs[0];
}

// The operator's output types. Throws Error when inputs or settings don't fit together, when one of
// the types is bf16 and the operator does not take that, or when an output would have more than
// most_elements.
std::vector<Type> output_types(const Op& op, const Settings& settings, const std::vector<Type>& in);

}  // namespace tutti
