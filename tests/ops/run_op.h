// SPDX-License-Identifier: Apache-2.0
// Runs one operator's reference in double on written-down values.
#pragma once

#include "tutti/graph/graph.h"
#include "tutti/graph/op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tutti::ops {

using Values = std::vector<double>;

struct Argument {
  Shape shape;
  Values values;
  DType dtype = DType::f64;
};

inline Argument labels(Values values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {{count}, std::move(values), DType::i32};
}

inline Argument scalar(double value) { return {{}, {value}}; }

inline const Argument matrix{{2, 3}, {1, 2, 3, 4, 5, 6}};

inline Buffer buffer_of(const Argument& argument) {
  Buffer buffer(elements(argument.shape) * bytes_of(argument.dtype));
  if (argument.dtype == DType::i32)
    std::copy(argument.values.begin(), argument.values.end(),
              reinterpret_cast<std::int32_t*>(buffer.data()));
  else
    std::copy(argument.values.begin(), argument.values.end(),
              reinterpret_cast<double*>(buffer.data()));
  return buffer;
}

// A graph with one node on inputs of these types.
inline Graph graph_of(const Op& op, const std::vector<Type>& in, const Settings& settings = {}) {
  Graph graph;
  std::vector<ValueId> inputs;
  for (const Type& type : in) inputs.push_back(graph.add_value("", type));
  graph.add(op, inputs, settings);
  return graph;
}

// The first output of `op`.
inline Values run(const Op& op, const std::vector<Argument>& arguments,
                  const Settings& settings = {}, StepState step = {}, int origin = 0) {
  std::vector<Type> types;
  std::vector<Buffer> memory;
  for (const Argument& argument : arguments) {
    types.push_back({argument.dtype, argument.shape});
    memory.push_back(buffer_of(argument));
  }
  const Graph graph = graph_of(op, types, settings);
  const Node& node = graph.nodes[0];
  Call call{.settings = node.settings, .in = {}, .out = {}, .step = step, .origin = origin};
  for (std::size_t i = 0; i < types.size(); ++i)
    call.in.push_back({types[i].dtype, types[i].shape, memory[i].data()});
  const Type& type = graph.type(node.outputs[0]);
  const Buffer result(type.bytes());
  call.out.push_back({type.dtype, type.shape, result.data()});
  op.reference(call);
  const auto* first = reinterpret_cast<const double*>(result.data());
  return {first, first + elements(type.shape)};
}

// What building the node says when it throws Error; empty when it does not.
inline std::string error_of(const Op& op, const std::vector<Type>& in,
                            const Settings& settings = {}) {
  try {
    graph_of(op, in, settings);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Equal but for rounding of values near one.
inline void expect_near(const Values& values, const Values& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-15);
}

inline Shape shape_after(const Op& op, const Shape& shape, const Settings& settings) {
  const Graph graph = graph_of(op, {{DType::f32, shape}}, settings);
  return graph.shape(graph.nodes[0].outputs[0]);
}

}  // namespace tutti::ops
