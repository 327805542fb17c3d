// SPDX-License-Identifier: Apache-2.0
// The contract of operators: every entry of the list, at every case that it names, is run through
// the properties that all operators have.
#include "tutti/ops/operators.h"

#include "contract/case_names.h"
#include "contract/interpreter.h"
#include "contract/split.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti::contract {
namespace {

// Whether the fuse pass made this node: it has no gradient of its own.
bool fused(const Op& op, const Settings& settings, const std::vector<Array>& in) {
  const bool has_epilogue = settings.has("activation");
  const std::size_t own_inputs = op.name == "normalise" ? 5 : 2;
  const bool extra_inputs = has_epilogue && in.size() > own_inputs;
  const bool activated = has_epilogue && settings.text("activation") != "none";
  return extra_inputs || activated ||
         (op.name == "convolution_grad_weight" && settings.flag("with_bias"));
}

class Operators : public testing::TestWithParam<NamedCase> {
 protected:
  const Op& op = *GetParam().op;
  const OpCase& size = GetParam().size;
  const Settings settings = case_settings(op, size);
  const std::vector<Array> in = random_inputs(size);
  const StepState step{.step = 3, .key = 99, .rate = 0.1, .origins = {5}};
};

TEST_P(Operators, InfersWhatItReturns) {
  Graph graph;
  std::vector<ValueId> ids;
  for (const Array& array : in)
    ids.push_back(array.absent ? no_value : graph.add_value("", array.type));
  const std::vector<Type> expected = op.infer(settings, types_of(in));
  EXPECT_EQ(graph.types(graph.add(op, ids, settings)), expected);
  const std::vector<Array> out = run_reference(op, settings, in, step);
  EXPECT_EQ(types_of(out), expected);
  for (const Array& array : out) EXPECT_EQ(difference(array, array), 0) << "not all is written";
}

// Σ dy · y over the outputs that have a dy.
double projected(const std::vector<Array>& y, const std::vector<const Array*>& dy) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (dy[i] != nullptr)
      for (std::int64_t e = 0; e < y[i].count(); ++e) sum += y[i].get(e) * dy[i]->get(e);
  return sum;
}

// The gradient as graph nodes, evaluated; none where no gradient flows.
std::vector<Array> gradients(const Op& op, const Settings& settings, const std::vector<Array>& in,
                             const std::vector<const Array*>& dy, StepState step) {
  Graph graph;
  Values feeds;
  std::vector<ValueId> ids, dy_ids;
  const auto feed = [&](const Array& array) {
    const ValueId id = graph.add_value("", array.type);
    feeds.insert_or_assign(id, array);
    return id;
  };
  for (const Array& array : in) ids.push_back(array.absent ? no_value : feed(array));
  graph.add(op, ids, settings);
  const Node node = graph.nodes.back();  // the graph grows under gradient()
  for (const Array* array : dy) dy_ids.push_back(array == nullptr ? no_value : feed(*array));
  const std::vector<ValueId> result = op.gradient(graph, node, dy_ids);
  EXPECT_EQ(result.size(), in.size()) << "one gradient per input";
  const auto list = ops::operators();
  for (const Node& added : graph.nodes) EXPECT_TRUE(list.has(added.op->name)) << added.op->name;
  const Values values = evaluate(graph, feeds, step);
  std::vector<Array> found;
  for (ValueId id : result) found.push_back(id == no_value ? Array::none() : values.at(id));
  return found;
}

// Central differences of Σ dy · y in every element of input `i`.
Array finite_differences(const Op& op, const Settings& settings, std::vector<Array> in,
                         std::size_t i, const std::vector<const Array*>& dy, StepState step) {
  constexpr double h = 1e-5;  // error about h² + 1e-16 / h
  Array slope(in[i].type);
  for (std::int64_t e = 0; e < in[i].count(); ++e) {
    const double x = in[i].get(e);
    in[i].set(e, x + h);
    const double above = projected(run_reference(op, settings, in, step), dy);
    in[i].set(e, x - h);
    const double below = projected(run_reference(op, settings, in, step), dy);
    in[i].set(e, x);
    slope.set(e, (above - below) / (2 * h));
  }
  return slope;
}

// Backward operators are entries too, so this is also the test of second derivatives.
TEST_P(Operators, GradientIsThatOfFiniteDifferences) {
  if (op.gradient == nullptr) {
    EXPECT_FALSE(op.undifferentiable.empty()) << "without gradient, say why";
    return;
  }
  const std::vector<Type> types = op.infer(settings, types_of(in));
  std::vector<Array> random;
  for (std::size_t i = 0; i < types.size(); ++i) random.push_back(random_array(types[i], 100 + i));
  // All outputs together, then each alone.
  for (std::size_t only = 0; only <= types.size(); ++only) {
    if (only > 0 && (types.size() == 1 || !is_float(types[only - 1].dtype))) continue;
    std::vector<const Array*> dy;
    for (std::size_t i = 0; i < types.size(); ++i)
      dy.push_back(is_float(types[i].dtype) && (only == 0 || only == i + 1) ? &random[i] : nullptr);
    if (fused(op, settings, in)) {
      EXPECT_THROW(gradients(op, settings, in, dy, step), std::logic_error);
      return;
    }
    const std::vector<Array> found = gradients(op, settings, in, dy, step);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i].absent || !is_float(in[i].type.dtype)) {
        EXPECT_TRUE(found[i].absent) << "integers and absent inputs have no gradient";
        continue;
      }
      // An entry with a gradient may say in `undifferentiable` why none flows to some input.
      if (found[i].absent && !op.undifferentiable.empty()) continue;
      const Array expected = finite_differences(op, settings, in, i, dy, step);
      const Array zero(in[i].type);
      EXPECT_LT(difference(found[i].absent ? zero : found[i], expected), 1e-6)
          << "gradient of input " << i << (found[i].absent ? ", which is said to be none" : "");
    }
  }
}

TEST_P(Operators, ShardingRuleFitsTheShapes) {
  if (op.sharding == nullptr) return;
  const std::vector<Type> types = types_of(in), out = op.infer(settings, types);
  const std::string notation = op.sharding(settings, types);
  const ShardingRule rule = parse_sharding(notation);
  ASSERT_EQ(rule.inputs.size(), in.size()) << notation;
  ASSERT_EQ(rule.outputs.size(), out.size()) << notation;
  const auto extents = splittable(rule, types, out);
  const auto fits = [&](const std::vector<std::string>& written, const Type& type) {
    ASSERT_EQ(written.size(), type.shape.size()) << notation;
    for (std::size_t d = 0; d < written.size(); ++d) {
      const bool merged = merged_indices(written[d]).size() > 1;
      const auto found = extents.find(merged ? split_index(written[d]) : written[d]);
      if (found == extents.end()) continue;
      EXPECT_EQ(merged ? type.shape[d] % found->second : type.shape[d], merged ? 0 : found->second)
          << notation << ", index " << written[d];
    }
  };
  for (std::size_t i = 0; i < in.size(); ++i) fits(rule.inputs[i], types[i]);
  for (std::size_t i = 0; i < out.size(); ++i) fits(rule.outputs[i], out[i]);
}

TEST_P(Operators, PartsOfASplitIndexMakeTheWhole) {
  if (op.sharding == nullptr) return;
  const std::vector<Array> expected = run_reference(op, settings, in, step);
  const std::vector<Type> out = types_of(expected);
  const std::string notation = op.sharding(settings, types_of(in));
  // A maximum must not see what stands in the padding.
  const SplitRun run{.op = op,
                     .settings = settings,
                     .in = in,
                     .rule = parse_sharding(notation),
                     .step = step,
                     .border = op.name == "max_pool" ? -1e300 : 0};
  for (const auto& [index, extent] : splittable(run.rule, types_of(in), out)) {
    if (extent < 2) continue;
    const std::vector<Array> parts = run.in_two(index, extent, out);
    for (std::size_t i = 0; i < out.size(); ++i)
      EXPECT_LT(difference(parts[i], expected[i]), 1e-12)
          << notation << ", output " << i << ", split " << index;
  }
}

// Counts products by adding up ones, where none meets the padding.
void expect_counted(const Op& op, const Settings& settings, const std::vector<Array>& in,
                    double multiply_adds) {
  if (settings.has("padding"))
    for (std::int64_t p : settings.integers("padding"))
      if (p != 0) return;
  std::vector<Array> ones = in;
  for (Array& array : ones)
    for (std::int64_t i = 0; i < array.count(); ++i) array.set(i, 1);
  const Array y = run_reference(op, settings, ones)[0];
  double sum = 0;
  for (std::int64_t i = 0; i < y.count(); ++i) sum += y.get(i);
  EXPECT_DOUBLE_EQ(multiply_adds, sum);
}

TEST_P(Operators, CostIsPlausible) {
  ASSERT_NE(op.cost, nullptr);
  const std::vector<Type> types = types_of(in), out = op.infer(settings, types);
  const Cost cost = op.cost(settings, types, out);
  double in_bytes = 0, out_bytes = 0;
  for (const Array& array : in)
    in_bytes += array.absent ? 0 : static_cast<double>(array.type.bytes());
  for (const Type& type : out) out_bytes += static_cast<double>(type.bytes());
  EXPECT_GE(cost.depth, 0);
  EXPECT_GE(cost.multiply_adds, 0);
  EXPECT_GE(cost.work, cost.multiply_adds);
  EXPECT_GE(cost.bytes_read, 0);
  EXPECT_LE(cost.bytes_read, in_bytes);
  EXPECT_EQ(cost.bytes_written, op.view ? 0 : out_bytes);
  if (cost.multiply_adds > 0 && !fused(op, settings, in))
    expect_counted(op, settings, in, cost.multiply_adds);
}

TEST_P(Operators, FloatAgreesWithDouble) {
  const std::vector<Array> expected = run_reference(op, settings, in, step);
  const std::vector<Array> found =
      run_reference(op, case_settings(op, size, DType::f32), random_inputs(size, DType::f32), step);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool exact = !is_float(expected[i].type.dtype);
    EXPECT_LE(difference(found[i], expected[i]), exact ? 0 : 1e-4) << "output " << i;
  }
}

TEST_P(Operators, MayBeComputedInPlaceAsItSays) {
  const std::vector<Array> expected = run_reference(op, settings, in, step);
  for (const InPlace& pair : op.in_place) {
    const auto from = static_cast<std::size_t>(pair.in), to = static_cast<std::size_t>(pair.out);
    if (from >= in.size() || in[from].absent) continue;
    ASSERT_EQ(in[from].type.bytes(), expected[to].type.bytes());
    std::vector<Array> arguments = in, results;
    for (const Array& array : expected) results.push_back(unwritten_array(array.type));
    Call call{.settings = settings, .in = {}, .out = {}, .step = step};
    for (Array& array : arguments) call.in.push_back(array.tensor());
    for (Array& array : results) call.out.push_back(array.tensor());
    call.out[to].data = call.in[from].data;
    op.reference(call);
    results[to].memory = arguments[from].memory;
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(difference(results[i], expected[i]), 0) << "input " << from << " overwritten";
  }
}

INSTANTIATE_TEST_SUITE_P(List, Operators, testing::ValuesIn(named_cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST(OperatorList, EveryEntryIsComplete) {
  for (const ops::OpEntry& entry : ops::operators()) {
    const Op& op = *entry.op;
    EXPECT_EQ(entry.name, op.name);
    EXPECT_FALSE(op.doc.empty()) << op.name;
    EXPECT_NE(op.infer, nullptr) << op.name;
    for (const Setting& setting : op.settings) EXPECT_FALSE(setting.doc.empty()) << op.name;
    if (op.reference == nullptr) continue;
    ASSERT_NE(op.cases, nullptr) << op.name << " has a reference but no cases";
    EXPECT_FALSE(op.cases().empty()) << op.name;
  }
}

TEST(OperatorList, NamesAreUnique) {
  std::vector<std::string> names = ops::operators().names();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace tutti::contract
