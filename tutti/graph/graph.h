// SPDX-License-Identifier: Apache-2.0
// The graph of one training step: nodes in execution order, values in static single assignment.
// Passes turn graphs into graphs; the executor, the cost model and the memory planner read the same
// one.
#pragma once

#include "tutti/core/dtype.h"
#include "tutti/core/settings.h"
#include "tutti/core/shape.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tutti {

struct Op;
using ValueId = int;
using NodeId = int;
constexpr ValueId no_value = -1;
constexpr NodeId no_node = -1;

struct Type {
  DType dtype = DType::f32;
  Shape shape;
  std::int64_t bytes() const { return elements(shape) * bytes_of(dtype); }
  bool operator==(const Type&) const = default;
};

// How a tensor lies in memory. The default is plain row-major; anything else is a back end's own
// description, opaque here but for equality, its name and its size.
struct Layout {
  std::string name;
  std::vector<std::byte> description;
  std::int64_t bytes = 0;
  bool plain() const { return description.empty(); }
  bool operator==(const Layout& other) const { return description == other.description; }
};

// Which base pointer a value is addressed from; pointers come in a table when a program runs. Those
// below `inputs` are known to passes. From `listed` on they are vectors of the list that a rank has
// (exec/vectors.h), whoever put them there.
struct Base {
  enum : int {
    arena,        // activations, scratch, reorders: planned by the memory pass
    weights,      // the flat vector w
    gradients,    // g
    encoded,      // g as it travels where a codec encodes it
    layer_state,  // s
    carried,      // what streams of samples hand on from step to step
    constants,    // what is made of the weights once and kept between runs
    results,      // scalars that the host reads after a step (loss, metrics)
    inputs,       // inputs + k: the k-th input of the graph
    listed = inputs + 8,
    optimizer = listed,  // optimizer + k: the k-th optimizer state vector
    most = listed + 16
  };
  static bool is_input(int base) { return base >= inputs && base < listed; }
};

// Where ranks of one role differ, a number of the graph comes from the table of the rank (bind.h).
constexpr int no_slot = -1;

struct Place {
  int base = Base::arena;
  std::int64_t offset_bytes = -1;  // -1: not planned yet
  int slot = no_slot;              // of an element of the vector at which it begins
  bool operator==(const Place&) const = default;
};

struct Value {
  std::string name;
  Type type;
  NodeId producer = no_node;  // none: an input of the graph (batch, weights …)
  Layout layout = {};
  Place place = {};
  bool activation = false;    // has a part for each sample and may be stored in 16 bits
  int length_slot = no_slot;  // of its first extent, where no node makes it

  std::int64_t bytes() const { return layout.plain() ? type.bytes() : layout.bytes; }
};

// A setting, or an element of one, that differs between ranks of one role.
struct BoundSetting {
  std::string name;
  int slot = no_slot;
  std::int64_t scale = 1;  // of what the table has
  int element = 0;         // of a list
};

struct Node {
  const Op* op = nullptr;
  Settings settings;
  std::vector<ValueId> inputs;  // no_value: an optional input that is absent
  std::vector<ValueId> outputs;
  std::string name;  // of the layer it came from
  int origin = 0;    // stable id for random operators: survives passes and recomputation
  std::vector<BoundSetting> bound = {};
};

// A range of the flat gradient vector that holds only this rank's summand.
struct PartialRange {
  std::int64_t offset = 0, count = 0;  // elements
  std::string axes;                    // mesh axes to sum over: "data", "data replica"
  bool is_summed = false;              // as it is made: it holds the sum
};

// What streams of samples hand on from step to step: row i of every batch belongs to stream i. Both
// values have a row for each.
struct Carried {
  ValueId state = no_value;  // an input, which the step before has left
  ValueId next = no_value;   // what the next step finds in its place; none: the same again
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;     // in execution order: producers before consumers
  std::vector<ValueId> batch;  // inputs that change every step, in slot order
  std::vector<Carried> carried;
  std::vector<ValueId> results;  // scalars the host reads, in order of their place
  std::vector<ValueId> outputs;  // values that must survive (predictions)
  std::vector<PartialRange> partial;
  int next_origin = 0;
  std::string scope;  // name given to nodes being added

  // A value without producer, at `place`.
  ValueId add_value(std::string name, Type type, Place place = {});
  // Appends a node: fills default settings, infers output types, throws Error when they don't fit.
  std::vector<ValueId> add(const Op& op, std::vector<ValueId> inputs, Settings settings = {});
  // The same for operators with one output.
  ValueId add1(const Op& op, std::vector<ValueId> inputs, Settings settings = {});

  const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  Value& value(ValueId id) { return values[static_cast<std::size_t>(id)]; }
  const Type& type(ValueId id) const { return value(id).type; }
  const Shape& shape(ValueId id) const { return value(id).type.shape; }
  std::vector<Type> types(const std::vector<ValueId>& ids) const;  // absent ones: empty f32
};

// Consumers of each value, by position in `nodes`.
std::vector<std::vector<NodeId>> consumers(const Graph& graph);

// Renumbers producers after nodes were inserted, removed or reordered.
void renumber(Graph& graph);

// One line per node: "%7 f32[128×6×28×28] nhwc = convolution(%0, %1) stride=[1, 1]  # conv1".
std::string print(const Graph& graph);

}  // namespace tutti
