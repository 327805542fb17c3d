// SPDX-License-Identifier: Apache-2.0
// Batch normalisation (B17): every channel is normalised over samples and positions, or over groups
// of samples (B18). Running averages for evaluation are layer state. With several ranks the
// statistics are those of the whole batch (B19), unless groups make them local to a rank.
#include "tutti/nn/layer.h"
#include "tutti/ops/channel_sums.h"
#include "tutti/ops/normalise.h"
#include "tutti/ops/reshape.h"

namespace tutti::nn {
namespace {

ValueId normalised(Net& net, ValueId x, const Settings& settings) {
  Graph& graph = net.graph;
  const std::int64_t channels = graph.shape(x)[1], group = settings.integer("group");
  const ValueId gamma = net.parameter(
      "weight", {channels}, {.kind = settings.flag("zero") ? Initialiser::zero : Initialiser::one},
      {.weight_decay = 0});
  const ValueId beta = net.parameter("bias", {channels}, {}, {.weight_decay = 0});
  const ValueId running_mean = net.state("running_mean", {channels}, {}, {1, channels});
  const ValueId running_variance =
      net.state("running_var", {channels}, {.kind = Initialiser::one}, {1, channels});
  const double epsilon = settings.real("epsilon");
  if (!net.training)
    return graph.add1(ops::normalise, {x, running_mean, running_variance, gamma, beta},
                      {{"epsilon", epsilon}});

  net.state_per_rank |= group > 0;
  const ValueId sums = graph.add1(ops::channel_sums, {x}, {{"group", group}});
  const std::vector<ValueId> now = graph.add(
      ops::channel_statistics, {sums}, {{"dtype", std::string(name_of(graph.type(x).dtype))}});
  const std::vector<ValueId> running =
      graph.add(ops::running_average, {running_mean, running_variance, now[0], now[1], sums},
                {{"momentum", settings.real("momentum")}});
  graph.value(running[0]).place = graph.value(running_mean).place;
  graph.value(running[1]).place = graph.value(running_variance).place;
  return graph.add1(ops::normalise, {x, now[0], now[1], gamma, beta},
                    {{"epsilon", epsilon}, {"group", group}});
}

ValueId apply(Net& net, ValueId x, const Settings& settings) {
  const Shape shape = net.graph.shape(x);
  if (shape.size() < 2)
    throw Error("the input is {}, expected batch × channels × …", to_string(shape));
  if (!settings.flag("per_activation") || shape.size() == 2) return normalised(net, x, settings);
  const ValueId flat = net.graph.add1(ops::reshape, {x}, {{"shape", Shape{0, -1}}});
  Shape back = shape;
  back[0] = 0;
  return net.graph.add1(ops::reshape, {normalised(net, flat, settings)}, {{"shape", back}});
}

}  // namespace

const Layer batch_norm{
    .name = "batch_norm",
    .doc =
        "every channel gets mean 0 and variance 1 over the batch, then a learned scale and shift",
    .settings =
        {{.name = "epsilon", .initial = 1e-5, .doc = "added to the variance", .min = 0, .max = 1},
         {.name = "momentum",
          .initial = 0.1,
          .doc = "weight of a batch in the running averages that evaluation uses",
          .min = 0,
          .max = 1},
         {.name = "group",
          .initial = std::int64_t{0},
          .doc = "samples that are normalised together (ghost batches); 0: the whole batch, "
                 "over all ranks",
          .min = 0},
         {.name = "per_activation",
          .initial = false,
          .doc = "statistics of every position for itself, over samples only"},
         {.name = "zero",
          .initial = false,
          .doc = "the scale begins at 0: a residual branch begins as nothing"}},
    .apply = apply};

}  // namespace tutti::nn
