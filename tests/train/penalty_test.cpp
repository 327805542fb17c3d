// SPDX-License-Identifier: Apache-2.0
// A loss that adds a penalty on weights, which all ranks have, to a mean over samples, of which
// each rank has a summand: the penalty and its gradient count once on any number of ranks.
#include "tutti/ops/add.h"
#include "tutti/ops/constant.h"
#include "tutti/ops/cross_entropy.h"
#include "tutti/ops/weigh.h"

#include "small_job.h"

namespace tutti {
namespace {

// Cross entropy + 0.1 Σ w² of the first layer.
const Loss penalised{
    .name = "penalised",
    .doc = "cross entropy and a penalty",
    .add = [](Net& net, const Settings&) {
      Graph& graph = net.graph;
      const ValueId w = net.parameters[0];
      const ValueId each = graph.add1(
          ops::constant, {},
          {{"shape", Shape{graph.shape(w)[0]}}, {"value", 0.1}, {"dtype", std::string("f64")}});
      return graph.add1(
          ops::add, {graph.add1(ops::softmax_cross_entropy, {net.output, net.labels, net.weights}),
                     graph.add1(ops::weighted_dot, {w, w, each})});
    }};

double loss_after_training(const TemporaryFolder& folder, const std::vector<std::string>& changes) {
  Recipe recipe = parse_recipe(small_recipe, "penalty.toml");
  set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
  for (const char* change : {"model.loss=penalised", "train.record=none", "train.steps=12"})
    set(recipe, change);
  for (const std::string& change : changes) set(recipe, change);
  Lists lists = default_lists();
  lists.losses.add(penalised);
  return train(make_job(recipe, lists), {}).test_loss;
}

TEST(Penalty, OnWeightsCountsOnceOnAnyNumberOfRanks) {
  const TemporaryFolder one;
  const double loss = loss_after_training(one, {});
  for (const char* ranks : {"partition.data=2", "partition.data=3"})
    for (const char* shard : {"all", "sharded", "sharded_weights"}) {
      const TemporaryFolder many;
      EXPECT_NEAR(loss_after_training(many, {ranks, fmt::format("exchange.store={}", shard)}), loss,
                  1e-12)
          << ranks << ", " << shard;
      EXPECT_LT(largest_difference(one, many), 1e-12) << ranks << ", " << shard;
    }
}

}  // namespace
}  // namespace tutti
