// SPDX-License-Identifier: Apache-2.0
// The graph of one training step: nodes in execution order, values in static single assignment.
// Passes turn graphs into graphs; the executor, the cost model and the memory planner read the same
// graph.
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

// The base pointer from which a value is addressed. A program gets a table of base pointers when it
// is executed. Passes know the bases below `inputs`. The bases from `listed` on are further vectors
// in the list of flat vectors that a rank has (exec/vectors.h).
struct Base {
  enum : int {
    arena,        // activations, scratch, reorders: planned by the memory pass
    weights,      // the flat vector w
    gradients,    // the flat vector g
    encoded,      // g in the form in which a codec sends it
    layer_state,  // what layers keep besides parameters: the flat vector s
    carried,      // what streams of samples hand on from step to step
    constants,    // values made of the weights once and kept between executions
    results,      // scalars that the host reads after a step (loss, metrics)
    inputs,       // inputs + k: the k-th input of the graph
    listed = inputs + 8,
    optimizer = listed,  // optimizer + k: the k-th optimizer state vector
    most = listed + 16
  };
  static bool is_input(int base) { return base >= inputs && base < listed; }
};

// A slot is an index into the table of the numbers in which ranks of one role differ (bind.h).
// no_slot: ranks do not differ.
constexpr int no_slot = -1;

// Where a value lies.
struct Place {
  int base = Base::arena;
  std::int64_t offset_bytes = -1;  // -1: not planned yet
  int slot = no_slot;              // entry with the value's first element in the vector
  bool operator==(const Place&) const = default;
};

struct Value {
  std::string name;
  Type type;
  NodeId producer = no_node;  // none: an input of the graph (batch, weights …)
  Layout layout = {};
  Place place = {};
  bool activation = false;    // has a dimension of samples, and may be stored in 16 bits
  int length_slot = no_slot;  // entry with its first extent, where no node makes the value

  std::int64_t bytes() const { return layout.plain() ? type.bytes() : layout.bytes; }
};

// A setting, or an element of one, that differs between ranks of one role.
struct BoundSetting {
  std::string name;
  int slot = no_slot;
  std::int64_t scale = 1;  // multiplies the table's number
  int element = 0;         // index in a setting that is a list
};

struct Node {
  const Op* op = nullptr;
  Settings settings;
  std::vector<ValueId> inputs;  // no_value: an optional input that is absent
  std::vector<ValueId> outputs;
  std::string name;  // of the layer that the node came from
  int origin = 0;    // stable id for random operators: survives passes and recomputation
  std::vector<BoundSetting> bound = {};
};

// A range of the flat gradient vector that holds only this rank's summand.
struct PartialRange {
  std::int64_t offset = 0, count = 0;  // elements
  std::string axes;                    // mesh axes to sum over: "data", "data replica"
  bool is_summed = false;              // the node that makes it has summed over the axes already
};

// A state that streams of samples hand on from step to step. Row i of every batch belongs to stream
// i; both values have a row for each stream.
struct Carried {
  ValueId state = no_value;  // an input: the state that the step before has left
  ValueId next = no_value;   // the state for the next step; no_value: the same again
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;     // in execution order: producers before consumers
  std::vector<ValueId> batch;  // inputs that change every step; the k-th has base inputs + k
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
  std::vector<Type> types(const std::vector<ValueId>& ids) const;  // Type{} for no_value
};

// Consumers of each value, by position in `nodes`.
std::vector<std::vector<NodeId>> consumers(const Graph& graph);

// Renumbers producers after nodes were inserted, removed or reordered.
void renumber(Graph& graph);

// One line per node: "%7 f32[128×6×28×28] nhwc = convolution(%0, %1) stride=[1, 1]  # conv1".
std::string print(const Graph& graph);

}  // namespace tutti
