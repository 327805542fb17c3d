// SPDX-License-Identifier: Apache-2.0
// An operator is a struct: what it is called, what it may be told, its shapes, its gradient as
// graph nodes, its cost, its sharding rule and a plain reference. Operators are pure: the same
// inputs, settings and step state give the same outputs.
#pragma once

#include "tutti/core/settings.h"
#include "tutti/core/step_state.h"
#include "tutti/core/tensor.h"
#include "tutti/graph/cost.h"
#include "tutti/graph/graph.h"

#include <string>
#include <vector>

namespace tutti {

// What a reference computes on: plain row-major tensors; absent optional inputs have data ==
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

// Of an operator that ranks carry out together: how, and on what.
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
struct OpMessage {
  MessageKind kind = MessageKind::none;
  // The message works on the memory of its first input; else on that of its output.
  bool on_input = false;
  // What is not in its place is copied first: the input into the output, or into its part of it.
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
  // Draws from (step key, origin, global element index), which the setting sample_rows helps to
  // find (passes/sample_rows.h).
  bool random = false;
  bool linear = false;  // jointly linear in all inputs: partial sums pass through
  bool bf16 = false;    // takes and gives bf16, which others don't compute in

  // Carried out by the executor, in the group of the mesh axes that the setting `axes` names.
  OpMessage message = {};
};

// Whether ranks carry out the node together.
inline bool is_message(const Node& node) { return node.op->message.kind != MessageKind::none; }
// Whether a message carries anything: a barrier does not.
inline bool has_operand(const Node& node) { return node.op->message.kind != MessageKind::barrier; }
// The value whose memory a message works on.
inline ValueId operand_of(const Node& node) {
  return node.op->message.on_input ? node.inputs[0] : node.outputs[0];
}

// The operator's output types. Throws Error when inputs or settings don't fit together, or when
// they are bf16 and the operator does not take that.
std::vector<Type> output_types(const Op& op, const Settings& settings, const std::vector<Type>& in);

}  // namespace tutti
