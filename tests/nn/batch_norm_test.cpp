// SPDX-License-Identifier: Apache-2.0
// B17, B18: what batch normalisation makes of a batch, its gradient through the statistics, groups,
// and the running averages that evaluation uses.
#include "tutti/nn/layer.h"
#include "tutti/ops/constant.h"
#include "tutti/passes/autodiff.h"

#include "nn/run_net.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

constexpr std::int64_t samples = 4;
const NetInput input{
    .fields = input_and_labels({3, 4, 4}), .classes = 3, .batch = samples, .dtype = DType::f64};

std::int64_t group = 0;
bool per_activation = false;

Net normalised_net(std::int64_t with_group = 0, bool each = false) {
  group = with_group;
  per_activation = each;
  const Model model{.name = "normalised",
                    .doc = "one normalisation",
                    .build = [](Net& net, ValueId x, const Settings&) {
                      x = net.apply(nn::convolution, x, {{"channels", 2}, {"kernel", 3}});
                      x = net.apply(nn::batch_norm, x,
                                    {{"name", "bn"},
                                     {"epsilon", 0.0},
                                     {"group", group},
                                     {"per_activation", per_activation}});
                      x = net.apply(nn::flatten, net.apply(nn::relu, x));
                      return net.apply(nn::linear, x, {{"units", 3}});
                    }};
  return build_net(model, {}, input);
}

ValueId output_of(const Net& net, const std::string& layer) {
  for (const LayerInfo& info : net.layers)
    if (info.name == layer) return info.output;
  return no_value;
}

// Mean and variance of channel c of samples [first, last).
std::pair<double, double> moments(const contract::Array& y, std::int64_t c, std::int64_t first,
                                  std::int64_t last) {
  const std::int64_t channels = y.type.shape[1];
  const std::int64_t plane = y.count() / (y.type.shape[0] * channels);
  double sum = 0, squares = 0;
  for (std::int64_t n = first; n < last; ++n)
    for (std::int64_t i = 0; i < plane; ++i) {
      const double value = y.get((n * channels + c) * plane + i);
      sum += value, squares += value * value;
    }
  const double count = static_cast<double>((last - first) * plane);
  return {sum / count, squares / count - sum * sum / (count * count)};
}

TEST(BatchNorm, B17OutputHasMeanZeroAndVarianceOne) {
  const Net net = normalised_net();
  const contract::Values values = contract::evaluate(net.graph, test::first_values(net));
  for (const std::int64_t c : {0, 1}) {
    const auto [mean, variance] = moments(values.at(output_of(net, "bn")), c, 0, samples);
    EXPECT_NEAR(mean, 0, 1e-12);
    EXPECT_NEAR(variance, 1, 1e-10);
  }
}

TEST(BatchNorm, B18GroupsAreNormalisedApart) {
  const Net net = normalised_net(/*group=*/2);
  const contract::Values values = contract::evaluate(net.graph, test::first_values(net));
  for (const std::int64_t first : {0, 2}) {
    const auto [mean, variance] = moments(values.at(output_of(net, "bn")), 0, first, first + 2);
    EXPECT_NEAR(mean, 0, 1e-12);
    EXPECT_NEAR(variance, 1, 1e-10);
  }
  // One group of all samples is the whole batch.
  const Net whole = normalised_net(), one = normalised_net(samples);
  EXPECT_EQ(contract::evaluate(whole.graph, test::first_values(whole)).at(whole.loss).get(0),
            contract::evaluate(one.graph, test::first_values(one)).at(one.loss).get(0));
}

void expect_gradients(Net net) {
  const Graph forward = net.graph;
  std::vector<ValueId> wrt = net.parameters;
  wrt.push_back(net.input);
  const ValueId seed = net.graph.add1(ops::constant, {}, {{"shape", Shape{}}, {"dtype", "f64"}});
  const std::vector<ValueId> found = gradients(net.graph, {net.loss}, {seed}, wrt);
  contract::Values values = test::first_values(net);
  const contract::Values all = contract::evaluate(net.graph, values);
  for (std::size_t k = 0; k < wrt.size(); ++k) {
    contract::Array& w = values.at(wrt[k]);
    for (std::int64_t i = 0; i < w.count(); ++i) {
      const double middle = w.get(i), h = 1e-6;
      const auto loss_at = [&](double value) {
        w.set(i, value);
        return contract::evaluate(forward, values).at(net.loss).get(0);
      };
      const double slope = (loss_at(middle + h) - loss_at(middle - h)) / (2 * h);
      w.set(i, middle);
      EXPECT_NEAR(all.at(found[k]).get(i), slope, 1e-8) << net.graph.value(wrt[k]).name << i;
    }
  }
}

TEST(BatchNorm, B17GradientFlowsThroughTheStatistics) { expect_gradients(normalised_net()); }
TEST(BatchNorm, B17GradientPerActivation) { expect_gradients(normalised_net(0, true)); }
TEST(BatchNorm, B18GradientOfGroups) { expect_gradients(normalised_net(2)); }

TEST(BatchNorm, B17GradientOfTheInputIsOrthogonal) {
  Net net = normalised_net();
  const ValueId x = output_of(net, "convolution1"), y = output_of(net, "bn");
  const ValueId seed = net.graph.add1(ops::constant, {}, {{"shape", Shape{}}, {"dtype", "f64"}});
  const ValueId dx = gradients(net.graph, {net.loss}, {seed}, {x})[0];
  const contract::Values values = contract::evaluate(net.graph, test::first_values(net));
  const contract::Array &d = values.at(dx), &normal = values.at(y);
  const std::int64_t channels = 2, plane = 4;
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0, product = 0;
    for (std::int64_t n = 0; n < samples; ++n)
      for (std::int64_t i = (n * channels + c) * plane; i < (n * channels + c + 1) * plane; ++i)
        sum += d.get(i), product += d.get(i) * normal.get(i);
    EXPECT_NEAR(sum, 0, 1e-12);
    EXPECT_NEAR(product, 0, 1e-12);
  }
}

TEST(BatchNorm, B17RunningAveragesAreUnbiased) {
  const Net net = normalised_net();
  const contract::Values values = contract::evaluate(net.graph, test::first_values(net));
  const auto [mean, variance] = moments(values.at(output_of(net, "convolution1")), 1, 0, samples);
  const double count = samples * 4;
  for (const Node& node : net.graph.nodes) {
    if (node.op->name != "running_average") continue;
    EXPECT_NEAR(values.at(node.outputs[0]).get(1), 0.1 * mean, 1e-12);
    EXPECT_NEAR(values.at(node.outputs[1]).get(1), 0.9 + 0.1 * variance * count / (count - 1),
                1e-12);
    EXPECT_EQ(net.graph.value(node.outputs[0]).place, net.graph.value(node.inputs[0]).place);
  }
  EXPECT_EQ(net.state_table.ranges[0].name, "bn.running_mean");
  EXPECT_EQ(net.state_table.ranges[1].shape, Shape{2});
}

}  // namespace
}  // namespace tutti
