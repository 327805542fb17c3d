// SPDX-License-Identifier: Apache-2.0
// B15: variants are measured once under a limit of scratch memory, and the answer is kept.
#include "tutti/kernels/selection.h"

#include "tutti/kernels/backends.h"
#include "tutti/kernels/trial.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/relu.h"
#include "tutti/passes/micro_batches.h"
#include "tutti/passes/variants.h"

#include "expect_error.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace tutti {
namespace {

class SelectionTest : public testing::Test {
 protected:
  SelectionTest() {
    const ValueId x = graph_.add_value("x", {DType::f32, {2, 32, 12, 12}});
    const ValueId w = graph_.add_value("w", {DType::f32, {32, 32, 3, 3}});
    graph_.add1(ops::convolution, {x, w}, {{"padding", Shape{1}}});
    const Node forward = graph_.nodes[0];
    const ValueId dy = graph_.add_value("dy", graph_.type(forward.outputs[0]));
    ops::convolution.gradient(graph_, forward, {dy});
    selection_.mode = Selection::Mode::measure;
    selection_.cache_file = folder_.path() + "/sub/variants.jsonl";
  }
  VariantChoice choose(std::size_t node = 0) {
    return choose_variant(table_, selection_, graph_, graph_.nodes[node]);
  }
  static double ms(const VariantChoice& choice, const std::string& name) {
    for (const VariantTime& time : choice.times)
      if (time.variant == name) return time.ms;
    return -1;
  }

  TemporaryFolder folder_;
  const KernelTable table_ = cpu_kernels();
  Graph graph_;
  Selection selection_;
};

TEST_F(SelectionTest, B15MeasuresOnceAndTakesTheFastest) {
  for (std::size_t node = 0; node < 3; ++node) {
    const VariantChoice first = choose(node);
    EXPECT_TRUE(first.measured);
    EXPECT_EQ(first.times.size(), table_.supporting(graph_, graph_.nodes[node]).size());
    EXPECT_EQ(first.times[0].variant, "onednn-winograd") << "the rule's choice comes first";
    for (const VariantTime& time : first.times) {
      EXPECT_GT(time.ms, 0) << time.variant;
      EXPECT_LE(ms(first, first.variant), 1.1 * time.ms) << time.variant;
    }
    const VariantChoice second = choose(node);
    EXPECT_FALSE(second.measured);
    EXPECT_EQ(second.variant, first.variant);
  }
  // Other threads are another question.
  selection_.threads = 2;
  selection_.mode = Selection::Mode::cache;
  const VariantChoice other = choose();
  EXPECT_TRUE(other.times.empty());
  EXPECT_EQ(other.variant, other.rule);
}

TEST_F(SelectionTest, B15LimitZeroTakesAVariantWithoutScratch) {
  selection_.workspace_bytes = 0;
  for (const auto mode :
       {Selection::Mode::rule, Selection::Mode::cache, Selection::Mode::measure}) {
    selection_.mode = mode;
    for (std::size_t node = 0; node < 3; ++node) {
      const Node& one = graph_.nodes[node];
      const std::string name = choose(node).variant;
      for (const Implementation* implementation : table_.supporting(graph_, one)) {
        if (implementation->name != name) continue;
        const NodeLayouts neighbours = neighbour_layouts(table_, graph_, one);
        EXPECT_EQ(Trial(table_, graph_, one, *implementation, neighbours).scratch_bytes(), 0)
            << name;
      }
    }
  }
}

// What was measured under a limit is completed when the limit is raised.
TEST_F(SelectionTest, B15AHigherLimitMeasuresOnlyTheRest) {
  selection_.workspace_bytes = 0;
  const std::size_t few = choose().times.size();
  selection_.workspace_bytes = std::int64_t{1} << 40;
  const VariantChoice more = choose();
  EXPECT_TRUE(more.measured);
  EXPECT_GT(more.times.size(), few);
  selection_.workspace_bytes = 0;
  EXPECT_FALSE(choose().measured);
}

TEST_F(SelectionTest, TheRuleStaysWhereAnotherIsHardlyFaster) {
  const std::string key = variant_key(graph_, graph_.nodes[0], 1);
  selection_.mode = Selection::Mode::cache;
  append_variant_times(selection_.cache_file, key, {{"onednn-winograd", 1.0, 0}, {"fft", 0.97, 0}});
  EXPECT_EQ(choose().variant, "onednn-winograd");
  append_variant_times(selection_.cache_file, key,
                       {{"onednn-winograd", 1.0, 0}, {"fft", 0.5, 100}, {"im2col", 0.6, 0}});
  EXPECT_EQ(choose().variant, "fft");
  selection_.workspace_bytes = 99;
  EXPECT_EQ(choose().variant, "im2col");
}

TEST_F(SelectionTest, ANameForAllHoldsWhereItCan) {
  selection_.convolution = "winograd";
  const Backend backend = backend_of(table_, selection_);
  EXPECT_EQ(backend.variant(graph_, graph_.nodes[0]), "winograd");
  const ValueId x = graph_.add_value("x", {DType::f32, {2, 32, 12, 12}});
  const ValueId w = graph_.add_value("w", {DType::f32, {32, 32, 1, 1}});
  graph_.add1(ops::convolution, {x, w});
  selection_.mode = Selection::Mode::rule;
  EXPECT_EQ(backend_of(table_, selection_).variant(graph_, graph_.nodes.back()), "onednn");
}

TEST_F(SelectionTest, B15ANamedVariantThatNeedsMoreThanTheLimitIsRefused) {
  selection_.workspace_bytes = 1000;
  const std::vector<const Implementation*> able = table_.supporting(graph_, graph_.nodes[0]);
  const auto im2col =
      std::find_if(able.begin(), able.end(), [](const auto* one) { return one->name == "im2col"; });
  const std::int64_t bytes = Trial(table_, graph_, graph_.nodes[0], **im2col,
                                   neighbour_layouts(table_, graph_, graph_.nodes[0]))
                                 .scratch_bytes();
  EXPECT_GT(bytes, 1000);
  const auto refused = [&] {
    expect_error([&] { backend_of(table_, selection_).variant(graph_, graph_.nodes[0]); },
                 {"im2col", std::to_string(bytes).c_str(), "kernels.workspace", "1000"});
  };
  selection_.convolution = "im2col";  // by the recipe
  refused();
  selection_.convolution = "auto";
  graph_.nodes[0].settings.set("variant", "im2col");  // by the layer
  refused();
  selection_.workspace_bytes = bytes;
  EXPECT_EQ(backend_of(table_, selection_).variant(graph_, graph_.nodes[0]), "im2col");
}

// A batch of 8 needs four times the scratch memory of the 2 samples that the limit allows for.
TEST_F(SelectionTest, C02CutsKeepTheNamedVariant) {
  for (const bool by_layer : {false, true})
    for (const auto mode : {Selection::Mode::rule, Selection::Mode::measure}) {
      Graph graph;
      const ValueId x = graph.add_value("x", {DType::f32, {8, 4, 12, 12}});
      const ValueId w = graph.add_value("w", {DType::f32, {4, 4, 3, 3}});
      const ValueId y = graph.add1(ops::convolution, {x, w},
                                   {{"variant", std::string(by_layer ? "im2col" : "auto")}});
      const Node forward = graph.nodes[0];
      const ValueId dy = graph.add_value("dy", graph.type(y));
      for (const ValueId id : ops::convolution.gradient(graph, forward, {dy}))
        graph.outputs.push_back(id);
      graph.outputs.push_back(y);
      selection_.mode = mode;
      selection_.convolution = by_layer ? "auto" : "im2col";
      selection_.micro_batches = true;
      selection_.workspace_bytes = 4LL * 2 * 10 * 10 * 4 * 9 + 64;
      const Backend backend = backend_of(table_, selection_);
      micro_batch(graph, backend);
      choose_variants(graph, backend);
      int parts = 0;
      for (const Node& node : graph.nodes) {
        if (!node.settings.has("variant")) continue;
        ++parts;
        EXPECT_EQ(node.settings.text("variant"), "im2col") << node.op->name;
        EXPECT_LE(backend.scratch_bytes(graph, node), selection_.workspace_bytes) << node.op->name;
      }
      EXPECT_GE(parts, 3 * 4) << "parts of the convolution and of its two gradients";
      // Where not even one sample fits, the bytes are said.
      selection_.workspace_bytes = 100;
      Graph whole;
      whole.add1(ops::convolution,
                 {whole.add_value("x", {DType::f32, {8, 4, 12, 12}}),
                  whole.add_value("w", {DType::f32, {4, 4, 3, 3}})},
                 {{"variant", std::string("im2col")}});
      const Backend small = backend_of(table_, selection_);
      micro_batch(whole, small);
      expect_error([&] { choose_variants(whole, small); }, {"im2col", "kernels.workspace", "100"});
    }
}

TEST(VariantCache, TornAndForeignLinesArePassedOver) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/variants.jsonl";
  append_variant_times(path, "a", {{"fft", 1.5, 7}});
  std::ofstream(path, std::ios::app) << R"({"key":"b","times":[{"varia)";
  append_variant_times(path, "c", {{"onednn", 2.5, 0}});
  std::ofstream(path, std::ios::app) << "{\"other\": 1}\n";
  append_variant_times(path, "a", {{"direct", 0.5, 0}});
  const VariantTimes all = read_variant_cache(path);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at("a")[0].variant, "direct");
  EXPECT_EQ(all.at("c")[0].ms, 2.5);
  EXPECT_TRUE(read_variant_cache(path + ".none").empty());
}

TEST(VariantCache, WritersAtTheSameTimeLoseNothing) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/variants.jsonl";
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t)
    writers.emplace_back([&, t] {
      for (int k = 0; k < 50; ++k)
        append_variant_times(path, fmt::format("{} {}", t, k), {{"fft", 1, 0}});
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(read_variant_cache(path).size(), 200u);
}

TEST(VariantCache, AFolderThatCanNotBeMadeIsNamed) {
  expect_error([] { append_variant_times("/proc/none/variants.jsonl", "a", {}); },
               {"/proc/none/variants.jsonl"});
}

}  // namespace
}  // namespace tutti
