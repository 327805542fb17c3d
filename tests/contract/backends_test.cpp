// SPDX-License-Identifier: Apache-2.0
// The contract of back ends: every operator at every case that it names gives what the reference
// gives, on row-major tensors and in the layouts that its kernel wants.
#include "tutti/kernels/backends.h"

#include "tutti/nn/net.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/operators.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/dead_code.h"
#include "tutti/passes/fuse.h"

#include "contract/case_names.h"
#include "contract/interpreter.h"
#include "contract/one_node.h"
#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti::contract {
namespace {

// Cases sum up to a few hundred products of numbers below 1; float sums in another order differ by
// about 1e-6 of the largest element, and oneDNN's activations are good to about 1e-5.
constexpr double tolerance = 1e-4;

class Backends : public testing::TestWithParam<NamedCase> {
 protected:
  const Op& op = *GetParam().op;
  const Settings settings = case_settings(op, GetParam().size, DType::f32);
  const std::vector<Array> in = random_inputs(GetParam().size, DType::f32);
  const StepState step{.step = 3, .key = 99, .rate = 0.1, .origins = {5}};
  const KernelTable kernels = cpu_kernels();

  void compare(int threads, bool layouts) {
    OneNode node(op, settings, in, kernels, threads, layouts);
    node.run(step);
    const std::vector<Array> found = node.outputs();
    const std::vector<Array> expected = run_reference(op, settings, in, step);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const bool exact = !is_float(expected[k].type.dtype);
      EXPECT_LE(difference(found[k], expected[k]), exact ? 0 : tolerance)
          << "output " << k << " by " << node.program().implementation(node.step());
    }
  }
};

TEST_P(Backends, CpuGivesWhatTheReferenceGives) { compare(1, true); }

TEST_P(Backends, CpuGivesItOnRowMajorTensors) { compare(1, false); }

TEST_P(Backends, CpuGivesItWithTwoThreads) { compare(2, true); }

// The same loops, later and on memory of a device: nothing is lost on the way.
TEST_P(Backends, DeferredGivesTheBitsOfTheReference) {
  const KernelTable deferred = kernels_named("deferred");
  OneNode node(op, settings, in, deferred);
  node.run(step);
  const std::vector<Array> found = node.outputs();
  const std::vector<Array> expected = run_reference(op, settings, in, step);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(difference(found[k], expected[k]), 0) << "output " << k;
}

// The kernel may be given other memory, and gives the same again.
TEST_P(Backends, CpuKernelsKeepNothing) {
  OneNode node(op, settings, in, kernels);
  node.run(step);
  const std::vector<Array> first = node.outputs();
  std::vector<Array> other = random_inputs(GetParam().size, DType::f32, 8);
  node.set_inputs(other);
  node.run({.step = 4, .key = 7});
  node.set_inputs(in);
  node.run(step);
  const std::vector<Array> again = node.outputs();
  for (std::size_t k = 0; k < first.size(); ++k) EXPECT_EQ(difference(again[k], first[k]), 0);
}

INSTANTIATE_TEST_SUITE_P(List, Backends, testing::ValuesIn(named_cases()),
                         [](const auto& tested) { return tested.param.name; });

// The operators of whole training steps, fused as they run there: sizes at which all kernels apply.
std::vector<NamedCase> model_cases() {
  const KernelTable reference = reference_kernels();
  const Backend backend = backend_of(reference);
  const List<Model> all = models();
  std::vector<NamedCase> found;
  for (const auto& [model, side] : {std::pair("mlp", 16), {"lenet", 28}, {"lenet5", 32}}) {
    Net net = build_net(all.find(model), {},
                        {.fields = input_and_labels({1, side, side}),
                         .classes = 10,
                         .batch = 6,
                         .dtype = DType::f64});
    differentiate(net.graph, net.loss, net.table, net.parameters);
    remove_dead_code(net.graph);
    fuse(net.graph, backend);
    for (const Node& node : net.graph.nodes)
      found.push_back({node.op, {node.settings, net.graph.types(node.inputs)}, node.name});
  }
  return found;
}

// Convolutions of sizes at which each variant applies: enough channels to be blocked by 16, images
// of several tiles and not a whole number of them, large kernels.
std::vector<NamedCase> convolution_sizes() {
  struct Size {
    Shape x, w;
    Settings settings;
  };
  const Shape one{1}, two{2};
  const std::vector<Size> sizes = {
      {{2, 16, 10, 9}, {16, 16, 3, 3}, {{"padding", one}}},
      {{3, 32, 12, 12}, {32, 32, 3, 3}, {{"padding", one}}},
      {{2, 32, 7, 7}, {48, 32, 3, 3}, {{"padding", one}}},
      {{1, 17, 9, 11}, {20, 17, 3, 3}, {}},
      {{2, 16, 8, 8}, {32, 16, 1, 1}, {{"stride", two}}},
      {{2, 4, 21, 19}, {6, 4, 7, 7}, {{"padding", Shape{3}}}},
      {{1, 3, 40, 35}, {5, 3, 11, 9}, {{"padding", Shape{5, 4}}}},
  };
  std::vector<NamedCase> all;
  for (const Size& size : sizes) {
    Graph graph;
    const ValueId x = graph.add_value("x", {DType::f64, size.x});
    const ValueId w = graph.add_value("w", {DType::f64, size.w});
    const ValueId y = graph.add1(ops::convolution, {x, w}, size.settings);
    const ValueId dy = graph.add_value("dy", graph.type(y));
    ops::convolution.gradient(graph, Node(graph.nodes[0]), {dy});
    const Type bias{DType::f64, {size.w[0]}};
    for (const Node& node : graph.nodes) {
      const std::vector<Type> in = graph.types(node.inputs);
      const std::string name = to_string(size.x) + " " + to_string(size.w);
      all.push_back({node.op, {node.settings, in}, name});
      Settings fused = node.settings;
      if (node.op == &ops::convolution) {
        fused.set("activation", "relu");
        all.push_back({node.op, {fused, {in[0], in[1], bias}}, name + " bias relu"});
        all.push_back({node.op, {fused, {in[0], in[1], bias, graph.type(y)}}, name + " residual"});
      } else if (node.op == &ops::convolution_grad_weight) {
        fused.set("with_bias", true);
        all.push_back({node.op, {fused, in}, name + " with bias"});
      }
    }
  }
  return all;
}

// Not only the first choice of a node: every implementation, wherever it applies.
TEST(BackendTables, EveryImplementationGivesWhatTheReferenceGives) {
  std::vector<NamedCase> cases = named_cases();
  for (NamedCase& one : model_cases()) cases.push_back(std::move(one));
  for (NamedCase& one : convolution_sizes()) cases.push_back(std::move(one));
  const StepState step{.step = 3, .key = 99, .rate = 0.1, .origins = {5}};
  std::map<const NamedCase*, std::vector<Array>> references;
  for (const auto& [name, implementations] : cpu_kernels().by_op) {
    // Updates are tested below; reorders stand around every convolution above.
    if (name == "update" || name == "measure" || name == "reorder") continue;
    for (const Implementation& implementation : implementations) {
      KernelTable alone = cpu_kernels();
      alone.by_op[name] = {implementation};
      alone.by_op[name][0].preferred = nullptr;
      int runs = 0;
      for (const NamedCase& one : cases) {
        if (one.op->name != name) continue;
        const Settings settings = case_settings(*one.op, one.size, DType::f32);
        const std::vector<Array> in = random_inputs(one.size, DType::f32);
        for (const int threads : {1, 2}) {
          OneNode node(*one.op, settings, in, alone, threads);
          if (node.program().implementation(node.step()) != implementation.name) continue;
          node.run(step);
          std::vector<Array>& expected = references[&one];
          if (expected.empty()) expected = run_reference(*one.op, settings, in, step);
          const std::vector<Array> outputs = node.outputs();
          for (std::size_t k = 0; k < expected.size(); ++k)
            EXPECT_LE(difference(outputs[k], expected[k]), tolerance)
                << name << " by " << implementation.name << " in " << one.name << ", output " << k;
          ++runs;
        }
      }
      // Runs only on the layouts that convolutions leave: kernels/blocked_layouts_test.cpp.
      if (name.starts_with("max_pool") && implementation.name == "simd") continue;
      // For products larger than these: kernels/matmul_variants_test.cpp.
      if (implementation.name == "onednn-turned" || implementation.name == "onednn-gemm") continue;
      EXPECT_GT(runs, 0) << "no case reaches " << name << " by " << implementation.name;
    }
  }
}

// Each rule on the fused loops of the CPU, with everything that an update may be told.
TEST(BackendUpdates, CpuGivesWhatTheReferenceGives) {
  const KernelTable cpu = cpu_kernels(), reference = reference_kernels(),
                    deferred = deferred_kernels();
  const Type block{DType::f32, {3 * 4096 + 17}}, scalar{DType::f32, {}};
  for (const Rule& rule : rules()) {
    const Settings defaults = resolve(rule.settings, {}, rule.name);
    for (const double clip_norm : {0.0, 0.5}) {
      std::vector<Array> in = {random_array(block, 1), random_array(block, 2)};
      for (int k = 0; k < rule.states; ++k) {
        in.push_back(random_array(block, static_cast<std::uint64_t>(3 + k)));
        for (std::int64_t i = 0; i < in.back().count(); ++i)  // a mean of squares is positive
          in.back().set(i, std::abs(in.back().get(i)));
      }
      if (clip_norm > 0) in.push_back(random_array(scalar, 9));
      Settings settings = resolve(ops::update.settings,
                                  {{"rule", rule.name},
                                   {"hyper", rule_numbers(rule, defaults)},
                                   {"weight_decay", 0.01},
                                   {"clip_value", 0.7},
                                   {"clip_norm", clip_norm}},
                                  "update");
      const StepState step{.step = 3, .rate = 0.1};
      if (rule.measure != nullptr) {
        OneNode plain(ops::measure, settings, in, reference);
        plain.run(step);
        const Array squares = plain.outputs()[0];
        for (const int threads : {1, 2}) {
          OneNode fast(ops::measure, settings, in, cpu, threads);
          EXPECT_EQ(fast.program().implementation(fast.step()), "simd") << rule.name;
          fast.run(step);
          for (int k : {0, 1})
            EXPECT_NEAR(fast.outputs()[0].get(k) / squares.get(k), 1, 1e-6) << rule.name;
        }
        settings.set("measured", true);
        in.insert(in.begin() + 2 + rule.states, squares);
      }
      OneNode expected(ops::update, settings, in, reference),
          later(ops::update, settings, in, deferred);
      expected.run(step);
      later.run(step);
      for (std::size_t k = 0; k < expected.outputs().size(); ++k)
        EXPECT_EQ(difference(later.outputs()[k], expected.outputs()[k]), 0) << rule.name;
      for (const int threads : {1, 2}) {
        OneNode fast(ops::update, settings, in, cpu, threads);
        EXPECT_EQ(fast.program().implementation(fast.step()), "simd") << rule.name;
        fast.run(step);
        for (std::size_t k = 0; k < expected.outputs().size(); ++k)
          EXPECT_LE(difference(fast.outputs()[k], expected.outputs()[k]), 1e-6)
              << rule.name << ", output " << k;
      }
    }
  }
}

// A block whose gradient is not finite stays as it is, and the sum tells.
TEST(BackendUpdates, AGradientThatIsNotFiniteChangesNothing) {
  const List<Rule> all = rules();
  const Rule& rule = all.find("momentum");
  const Settings settings =
      resolve(ops::update.settings,
              {{"rule", rule.name}, {"hyper", rule_numbers(rule, resolve(rule.settings, {}, ""))}},
              "update");
  std::vector<Array> in;
  for (std::uint64_t k = 0; k < 3; ++k) in.push_back(random_array({DType::f32, {100}}, k));
  in[0].set(50, NAN);
  for (const KernelTable& kernels : {cpu_kernels(), reference_kernels(), deferred_kernels()}) {
    OneNode node(ops::update, settings, in, kernels);
    node.run({.rate = 0.1});
    const std::vector<Array> out = node.outputs();
    EXPECT_EQ(difference(out[0], in[1]), 0) << kernels.name;
    EXPECT_EQ(difference(out[1], in[2]), 0) << kernels.name;
    EXPECT_FALSE(std::isfinite(out[2].get(0))) << kernels.name;
  }
}

// The range has a gradient that is not finite, but not in this block of it.
TEST(BackendUpdates, ARangeThatIsNotFiniteChangesNothing) {
  const List<Rule> all = rules();
  for (const char* name : {"lars", "lamb"}) {
    const Rule& rule = all.find(name);
    const Settings settings =
        resolve(ops::update.settings,
                {{"rule", rule.name},
                 {"hyper", rule_numbers(rule, resolve(rule.settings, {}, ""))},
                 {"measured", true}},
                "update");
    std::vector<Array> in;
    for (int k = 0; k < 2 + rule.states; ++k)
      in.push_back(random_array({DType::f32, {100}}, static_cast<std::uint64_t>(k)));
    in.push_back(random_array({DType::f64, {2}}, 9));
    in.back().set(1, INFINITY);
    for (const KernelTable& kernels : {cpu_kernels(), reference_kernels(), deferred_kernels()}) {
      OneNode node(ops::update, settings, in, kernels);
      node.run({.rate = 0.1});
      for (std::size_t k = 0; k + 1 < node.outputs().size(); ++k)
        EXPECT_EQ(difference(node.outputs()[k], in[k + 1]), 0) << kernels.name << " " << name;
    }
  }
}

// The word of guard names a step: neither whole blocks nor rows change.
TEST(BackendUpdates, AfterABadStepNothingChanges) {
  const List<Rule> all = rules();
  const Rule& rule = all.find("momentum");
  for (const std::int64_t row_width : {0, 10}) {
    const Settings settings =
        resolve(ops::update.settings,
                {{"rule", rule.name},
                 {"hyper", rule_numbers(rule, resolve(rule.settings, {}, ""))},
                 {"row_width", row_width},
                 {"sticky", true}},
                "update");
    std::vector<Array> in;
    for (std::uint64_t k = 0; k < 3; ++k) in.push_back(random_array({DType::f32, {100}}, k));
    if (row_width > 0) in.push_back(random_array({DType::i32, {4}}, 3, 10));
    in.emplace_back(Type{DType::i64, {}});
    for (const KernelTable& kernels : {cpu_kernels(), reference_kernels(), deferred_kernels()})
      for (const double word : {0.0, 8.0}) {
        in.back().set(0, word);
        OneNode node(ops::update, settings, in, kernels);
        node.run({.rate = 0.1});
        const std::vector<Array> out = node.outputs();
        for (std::size_t k = 0; k < 2; ++k)
          EXPECT_EQ(difference(out[k], in[k + 1]) == 0, word > 0) << kernels.name << " " << word;
        EXPECT_GT(out[2].get(0), 0) << "the sum of squares is told all the same";
      }
  }
}

Node convolution_node(Graph& graph, std::int64_t channels, const Settings& settings) {
  const ValueId x = graph.add_value("x", {DType::f32, {2, channels, 8, 8}});
  const ValueId w = graph.add_value("w", {DType::f32, {channels, channels, 3, 3}});
  graph.add1(ops::convolution, {x, w}, settings);
  return graph.nodes.back();
}

// B15: the rule where a node leaves the variant open, and the name where it does not.
TEST(Variants, B15RuleAndNames) {
  const KernelTable cpu = cpu_kernels();
  Graph graph;
  const auto chosen = [&](std::int64_t channels, const Settings& settings) {
    const Node node = convolution_node(graph, channels, settings);
    return cpu.find(graph, node)->name;
  };
  EXPECT_EQ(chosen(3, {}), "onednn");
  EXPECT_EQ(chosen(16, {}), "onednn");
  EXPECT_EQ(chosen(32, {}), "onednn-winograd");
  EXPECT_EQ(chosen(32, {{"stride", Shape{2}}}), "onednn");
  EXPECT_EQ(chosen(32, {{"groups", std::int64_t{1}}, {"variant", "onednn"}}), "onednn");
  const Node node = convolution_node(graph, 16, {});
  const ValueId dy = graph.add_value("dy", graph.type(node.outputs[0]));
  ops::convolution.gradient(graph, node, {dy});
  const std::size_t nodes = graph.nodes.size();
  EXPECT_EQ(cpu.find(graph, graph.nodes[nodes - 2])->name, "onednn-winograd");  // weight
  EXPECT_EQ(cpu.find(graph, graph.nodes[nodes - 1])->name, "onednn");           // input
}

TEST(Variants, WhatCanNotRunSaysSo) {
  const KernelTable cpu = cpu_kernels();
  Graph graph;
  const Node strided =
      convolution_node(graph, 32, {{"stride", Shape{2}}, {"variant", "onednn-winograd"}});
  expect_error([&] { cpu.find(graph, strided); },
               {"[convolution] variant 'onednn-winograd' can't compute 2×32×8×8 with 32×32×3×3; "
                "expected auto, onednn"});
  const Node unknown = convolution_node(graph, 32, {{"variant", "fancy"}});
  expect_error([&] { cpu.find(graph, unknown); },
               {"[convolution] unknown variant 'fancy'", "expected one of: "});
}

// Without the layout pass, Winograd's kernels do not apply; the direct ones do.
TEST(Variants, LayoutsDecideLast) {
  const KernelTable cpu = cpu_kernels();
  Graph graph;
  const Node node = convolution_node(graph, 32, {{"variant", "onednn-winograd"}});
  EXPECT_EQ(cpu.find(graph, node)->name, "onednn-winograd");
  EXPECT_EQ(cpu.choose(graph, node).name, "onednn");
}

TEST(BackendTables, AnUnknownNameIsAnError) { EXPECT_THROW(kernels_named("cuda9"), Error); }

// An operator of one's own needs no kernel: it runs by its reference.
TEST(BackendTables, WhatHasNoFastKernelRunsByReference) {
  const KernelTable kernels = cpu_kernels();
  const Op& op = *ops::operators().find("weighted_dot").op;
  const OpCase size = op.cases()[0];
  OneNode node(op, case_settings(op, size, DType::f32), random_inputs(size, DType::f32), kernels);
  EXPECT_EQ(node.program().implementation(node.step()), "reference");
}

}  // namespace
}  // namespace tutti::contract
