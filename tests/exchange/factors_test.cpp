// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/payloads/factors.h"

#include "tutti/comm/threads/threads.h"
#include "tutti/exchange/blocks.h"
#include "tutti/exchange/close_step.h"
#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/nn/net.h"
#include "tutti/ops/allgather.h"
#include "tutti/ops/allreduce.h"
#include "tutti/ops/allreduce_block.h"
#include "tutti/ops/gradient_norm.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/reduce_scatter.h"
#include "tutti/ops/update.h"
#include "tutti/parallel/partition.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/dead_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// G18: the published example, 8 agents that are servers too: a batch of 512 on each is the limit.
TEST(Factors, G18WordsOfFactorsAndOfAStore) {
  const auto layer = [](std::int64_t rows) { return LinearRange{0, 4096, 4096, rows}; };
  EXPECT_DOUBLE_EQ(factor_elements(layer(32), 8), 3670016);
  EXPECT_DOUBLE_EQ(store_elements(layer(32), 8, 8), 58720256);
  EXPECT_DOUBLE_EQ(factor_elements(layer(512), 8), store_elements(layer(512), 8, 8));
}

// G18: few samples and many weights travel as factors, whatever the transport.
TEST(Factors, G18TheChoiceFlipsWithTheBatch) {
  const LinkCost line{.latency_seconds = 1e-5, .seconds_per_byte = 1e-9};
  for (const TransportFacts& facts :
       {thread_facts(0, 8), TransportFacts{.size = 8, .network = line}})
    for (const bool sharded : {false, true}) {
      const ExchangeTimes times{.facts = facts,
                                .allgather = "auto",
                                .reduce_scatter = "auto",
                                .allreduce = "auto",
                                .sharded = sharded};
      const auto faster = [&](std::int64_t rows) {
        const LinearRange layer{0, 4096, 4096, rows};
        return times.of_factors(layer, DType::f32) < times.of_gradient(layer, DType::f32);
      };
      EXPECT_TRUE(faster(1));
      EXPECT_FALSE(faster(4096));
      // Once the gradient is faster, it stays so.
      bool before = true;
      for (std::int64_t rows = 1; rows <= 4096; rows *= 2) {
        EXPECT_FALSE(!before && faster(rows)) << rows;
        before = faster(rows);
      }
    }
}

// G18: the published example by the engine's own rule, which compares predicted times of what a
// rank sends: factors to every other rank, against the sum of the gradient. On a line without
// latency, next to which products cost nothing, that is a comparison of words, factor_elements() /
// 2 against gradient_words_sent(): 4096² on 8 ranks flips at 512 samples a rank, as with a store
// cut over all ranks, and at 256 where ranks update their own parts, since weights then travel
// either way. Between processes factors must be 8 times as fast.
TEST(Factors, G18TheEnginesChoiceFlipsAtTheCrossingOfItsRule) {
  const TransportFacts nodes{.size = 8, .network = LinkCost{.seconds_per_byte = 1e-3}};
  for (const bool sharded : {false, true}) {
    const ExchangeTimes times{.facts = nodes,
                              .allgather = "auto",
                              .reduce_scatter = "auto",
                              .allreduce = "auto",
                              .sharded = sharded};
    const auto layer = [](std::int64_t rows) { return LinearRange{0, 4096, 4096, rows}; };
    const std::int64_t crossing = sharded ? 256 : 512;
    EXPECT_DOUBLE_EQ(factor_elements(layer(crossing), 8) / 2,
                     gradient_words_sent(layer(crossing), 8, sharded));
    const auto faster = [&](std::int64_t rows) {
      return times.of_factors(layer(rows), DType::f32) < times.of_gradient(layer(rows), DType::f32);
    };
    EXPECT_TRUE(faster(crossing - 1));
    EXPECT_FALSE(faster(crossing + 1));
    FactorChoice choice(payloads().find("auto"), times);
    EXPECT_TRUE(choice.pays(layer(crossing / 8 - 1), DType::f32));
    EXPECT_FALSE(choice.pays(layer(crossing / 8 + 1), DType::f32));
  }
}

// G18: where every rank multiplies everything, products count: a layer of M × N on P ranks flips at
// K = (2 MN s / P) / ((M + N) s + MN / R) for s seconds a word and R multiply–adds a second.
TEST(Factors, G18ProductsCountOnAFastLine) {
  for (const double seconds_per_byte : {1e-9, 1e-8, 1e-7}) {
    const TransportFacts nodes{.size = 8,
                               .network = LinkCost{.seconds_per_byte = seconds_per_byte}};
    const ExchangeTimes times{.facts = nodes,
                              .allgather = "auto",
                              .reduce_scatter = "auto",
                              .allreduce = "auto",
                              .sharded = false};
    const double word = 4 * seconds_per_byte, m = 4096, n = 2048;
    const double crossing = (2 * m * n * word / 8) / ((m + n) * word + m * n / 25e9);
    const auto faster = [&](std::int64_t rows) {
      const LinearRange layer{0, 4096, 2048, rows};
      return times.of_factors(layer, DType::f32) < times.of_gradient(layer, DType::f32);
    };
    EXPECT_TRUE(faster(static_cast<std::int64_t>(std::floor(crossing)))) << crossing;
    EXPECT_FALSE(faster(static_cast<std::int64_t>(std::ceil(crossing)))) << crossing;
  }
}

class FactorsInGraph : public ::testing::TestWithParam<bool> {
 protected:
  // Three linear layers on the second of two ranks, the last with odd sizes.
  FactorsInGraph() {
    const List<Model> all = models();
    const Rule& sgd = rules_.find("sgd");
    closing_.update.rule = &sgd;
    closing_.update.rule_settings = resolve(sgd.settings, {}, "test");
    closing_.scheme.block_bytes = 1;
    closing_.scheme.store = stores().find(GetParam() ? "sharded" : "all");
    closing_.rank = 1, closing_.ranks = 2;
    net_ = build_net(all.find("mlp"), {{"hidden", Shape{16, 32}}},
                     {.fields = input_and_labels({8}), .classes = 7, .batch = 4});
    layers_ = linear_ranges(net_.graph, net_.table);
    for (const LinearRange& layer : layers_) closing_.factored.push_back(layer.offset);
    differentiate(net_.graph, net_.loss, net_.table, net_.parameters);
    partition_samples(net_.graph, 4, 2);
    remove_dead_code(net_.graph);
  }

  void exchange(const std::function<bool(const LinearRange&)>& pays) {
    exchange_factors(net_.graph, net_.table, DType::f32, closing_, "data", pays);
    verify(net_.graph, "factors");
    close_step(net_.graph, net_.table, DType::f32, closing_, 16);
    verify(net_.graph, "exchange");
  }

  std::vector<std::size_t> positions(const Op& op, const std::string& name) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < net_.graph.nodes.size(); ++i)
      if (net_.graph.nodes[i].op == &op && net_.graph.nodes[i].name == name) found.push_back(i);
    return found;
  }

  // The gradient of a layer's weights.
  std::size_t product_of(const std::string& layer) const {
    for (const std::size_t i : positions(ops::matmul, layer))
      if (net_.graph.nodes[i].settings.flag("transpose_a")) return i;
    ADD_FAILURE() << "no gradient of " << layer;
    return 0;
  }

  List<Rule> rules_ = rules();
  StepClosing closing_;
  Net net_;
  std::vector<LinearRange> layers_;
};

TEST_P(FactorsInGraph, G18RanksMultiplyWhatTheyUpdate) {
  ASSERT_EQ(layers_.size(), 3u);
  EXPECT_EQ(layers_[1].outputs, 32);
  EXPECT_EQ(layers_[1].inputs, 16);
  EXPECT_EQ(layers_[1].rows, 4);
  exchange([](const LinearRange&) { return true; });
  const bool sharded = GetParam();
  for (const char* layer : {"fc1", "fc2"}) {
    EXPECT_EQ(positions(ops::allgather, layer).size(), 2u);
    const Node& product = net_.graph.nodes[product_of(layer)];
    const Value& gradient = net_.graph.value(product.outputs[0]);
    const LinearRange& own = layers_[layer == std::string("fc1") ? 0 : 1];
    EXPECT_EQ(gradient.type.shape, (Shape{sharded ? own.outputs / 2 : own.outputs, own.inputs}));
    EXPECT_EQ(net_.graph.shape(product.inputs[0])[0], 4);  // samples of both ranks
    const std::int64_t first = sharded ? own.outputs / 2 * own.inputs : 0;
    EXPECT_EQ(gradient.place.base, Base::gradients);
    EXPECT_EQ(gradient.place.offset_bytes, 4 * (own.offset + first));
    // It is neither summed again, nor counted on one rank only.
    const std::string weights = std::string(layer) + ".weight";
    EXPECT_TRUE(positions(ops::reduce_scatter, weights).empty());
    EXPECT_TRUE(positions(ops::allreduce_block, weights).empty());
    EXPECT_EQ(positions(ops::update, weights).size(), 1u);
    EXPECT_EQ(positions(ops::allgather, weights).size(), sharded ? 1u : 0u);
  }
  // 7 rows can't be shared out.
  EXPECT_TRUE(positions(ops::allgather, "fc3").empty());
  EXPECT_EQ(net_.graph.shape(net_.graph.nodes[product_of("fc3")].outputs[0]), (Shape{7, 32}));
}

TEST_P(FactorsInGraph, G18FactorsTravelWhileTheNextAreMade) {
  exchange([](const LinearRange&) { return true; });
  const auto readers = consumers(net_.graph);
  for (const std::size_t later : positions(ops::allgather, "fc1"))
    for (const std::size_t gathering : positions(ops::allgather, "fc2")) {
      const ValueId all = net_.graph.nodes[gathering].outputs[0];
      for (const NodeId reader : readers[static_cast<std::size_t>(all)])
        EXPECT_LT(static_cast<NodeId>(later), reader) << "it is waited for at once";
    }
  EXPECT_LT(product_of("fc2"), product_of("fc1"));
}

// Each rank adds the squares of what it would update, also where no gradient is left to be summed.
TEST_P(FactorsInGraph, G18TheNormIsThatOfAllParts) {
  closing_.update.clip_norm = 1;
  std::erase_if(net_.graph.partial,
                [&](const PartialRange& partial) { return partial.offset != layers_[0].offset; });
  exchange([&](const LinearRange& layer) { return layer.offset == layers_[0].offset; });
  const auto is_norm = [](const Node& node) { return node.op == &ops::gradient_norm; };
  const auto norm = std::find_if(net_.graph.nodes.begin(), net_.graph.nodes.end(), is_norm);
  ASSERT_NE(norm, net_.graph.nodes.end());
  const NodeId sum = net_.graph.value(norm->inputs[0]).producer;
  EXPECT_EQ(net_.graph.nodes[static_cast<std::size_t>(sum)].op, &ops::allreduce);
}

TEST_P(FactorsInGraph, G18OtherwiseTheGradientTravels) {
  exchange([](const LinearRange& layer) { return layer.inputs == 8; });
  EXPECT_EQ(positions(ops::allgather, "fc1").size(), 2u);
  EXPECT_TRUE(positions(ops::allgather, "fc2").empty());
  EXPECT_EQ(positions(GetParam() ? ops::reduce_scatter : ops::allreduce_block, "fc2.weight").size(),
            1u);
}

INSTANTIATE_TEST_SUITE_P(Shard, FactorsInGraph, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "own" : "whole"; });

}  // namespace
}  // namespace tutti
