// SPDX-License-Identifier: Apache-2.0
// Networks from models and from tables of layers: what build_net adds around them, and its
// messages.
#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/nn/layer.h"
#include "tutti/nn/net.h"

#include "nn/run_net.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

const NetInput digits{.fields = input_and_labels({1, 28, 28}), .classes = 10, .batch = 4};

std::string layers_error(const std::vector<Settings>& tables, const NetInput& input = digits) {
  return test::error_of([&] { build_net(layers(), tables, input, "r.toml: [[model.layers]]"); });
}

TEST(BuildNet, BatchSlotsResultsAndOutputs) {
  const Net net = build_net(models().find("lenet"), {}, digits);
  verify(net.graph, "build_net");
  EXPECT_EQ(net.graph.batch, (std::vector<ValueId>{net.input, net.labels, net.weights}));
  EXPECT_EQ(net.graph.type(net.input), (Type{DType::f32, {4, 1, 28, 28}}));
  EXPECT_EQ(net.graph.type(net.labels), (Type{DType::i32, {4}}));
  EXPECT_EQ(net.graph.type(net.weights), (Type{DType::f32, {4}}));
  for (int slot = 0; slot < 3; ++slot)
    EXPECT_EQ(net.graph.value(net.graph.batch[static_cast<std::size_t>(slot)]).place,
              (Place{Base::inputs + slot, 0}));
  EXPECT_EQ(net.graph.results, (std::vector<ValueId>{net.loss, net.metric}));
  EXPECT_EQ(net.graph.value(net.loss).place, (Place{Base::results, 0}));
  EXPECT_EQ(net.graph.value(net.metric).place, (Place{Base::results, 8}));
  EXPECT_EQ(net.graph.outputs, std::vector<ValueId>{net.output});
  EXPECT_EQ(net.graph.shape(net.output), (Shape{4, 10}));
}

TEST(BuildNet, RegressionHasTargetsAndTheAbsoluteError) {
  const Net net = build_net(models().find("mlp"), {{"hidden", 7}},
                            {.fields = input_and_targets({5}, {2, 3}), .batch = 4});
  verify(net.graph, "build_net");
  EXPECT_EQ(net.graph.type(net.labels), (Type{DType::f32, {4, 2, 3}}));
  EXPECT_EQ(net.graph.shape(net.output), (Shape{4, 2, 3}));
  EXPECT_EQ(net.graph.results, (std::vector<ValueId>{net.loss, net.metric}));
  EXPECT_EQ(net.graph.nodes[net.graph.nodes.size() - 2].op->name, "mean_squared_error");
  EXPECT_EQ(net.graph.nodes.back().op->name, "absolute_error");
}

TEST(BuildNet, EveryFieldIsAValueInTheOrderOfTheList) {
  const Net net = build_net(models().find("mlp"), {{"hidden", 7}},
                            {.fields = {{.name = "positions", .dtype = DType::i32, .shape = {3}},
                                        {.name = "input", .shape = {5}},
                                        {.name = "targets", .shape = {2}}},
                             .batch = 4,
                             .dtype = DType::f64});
  verify(net.graph, "build_net");
  std::vector<std::string> names;
  for (const ValueId id : net.graph.batch) names.push_back(net.graph.value(id).name);
  EXPECT_EQ(names, (std::vector<std::string>{"positions", "input", "targets", "weights"}));
  EXPECT_EQ(net.graph.type(net.field("positions")), (Type{DType::i32, {4, 3}}));
  EXPECT_EQ(net.graph.type(net.field("targets")), (Type{DType::f64, {4, 2}}));
  EXPECT_EQ(net.field("input"), net.input);
  EXPECT_EQ(net.graph.value(net.field("weights")).place, (Place{Base::inputs + 3, 0}));
  EXPECT_EQ(test::error_of([&] { net.field("labels"); }),
            "there is no field 'labels'; expected one of: positions, input, targets, weights");
}

TEST(BuildNet, ScalarTargets) {
  const Net net = build_net(models().find("mlp"), {{"hidden", 7}},
                            {.fields = input_and_targets({5}, {}), .batch = 4});
  EXPECT_EQ(net.graph.shape(net.output), (Shape{4}));
}

// A01: all-equal logits over k classes give ln k.
TEST(BuildNet, ZeroWeightsGiveTheLogarithmOfTheClasses) {
  const Net net = build_net(
      layers(), {{{"type", "flatten"}}, {{"type", "linear"}, {"units", 10}, {"init", "zero"}}},
      {.fields = input_and_labels({1, 4, 4}), .classes = 10, .batch = 3, .dtype = DType::f64});
  EXPECT_NEAR(contract::evaluate(net.graph, test::first_values(net)).at(net.loss).get(0),
              2.302585092994046, 1e-12);
}

std::vector<Settings> lenet_tables() {
  return {
      {{"type", "convolution"}, {"name", "conv1"}, {"channels", 6}, {"kernel", 5}, {"padding", 2}},
      {{"type", "relu"}},
      {{"type", "max_pool"}, {"kernel", 2}},
      {{"type", "convolution"}, {"name", "conv2"}, {"channels", 16}, {"kernel", 5}},
      {{"type", "relu"}},
      {{"type", "max_pool"}, {"kernel", 2}},
      {{"type", "flatten"}},
      {{"type", "linear"}, {"name", "fc1"}, {"units", 120}},
      {{"type", "relu"}},
      {{"type", "linear"}, {"name", "fc2"}, {"units", 84}},
      {{"type", "relu"}},
      {{"type", "linear"}, {"name", "fc3"}, {"units", 10}}};
}

TEST(BuildNet, TablesOfLayersAndTheModelInCppGiveOneGraph) {
  const Net model = build_net(models().find("lenet"), {}, digits);
  const Net tables = build_net(layers(), lenet_tables(), digits);
  EXPECT_EQ(print(tables.graph), print(model.graph));
  ASSERT_EQ(tables.table.ranges.size(), model.table.ranges.size());
  for (std::size_t i = 0; i < model.table.ranges.size(); ++i) {
    EXPECT_EQ(tables.table.ranges[i].name, model.table.ranges[i].name);
    EXPECT_EQ(tables.table.ranges[i].offset, model.table.ranges[i].offset);
    EXPECT_EQ(tables.table.ranges[i].weight_decay, model.table.ranges[i].weight_decay);
    EXPECT_EQ(tables.initialisers[i].kind, model.initialisers[i].kind);
  }
}

TEST(BuildNet, OwnLayersCanBeAppended) {
  List<Layer> all = layers();
  all.add({.name = "twice",
           .doc = "relu, two times",
           .apply = [](Net& net, ValueId x, const Settings&) {
             return nn::relu.apply(net, nn::relu.apply(net, x, {}), {});
           }});
  const Net net =
      build_net(all, {{{"type", "twice"}}}, {.fields = input_and_labels({3}), .classes = 3});
  EXPECT_EQ(net.layers[0].last_node, 2);
}

TEST(BuildNet, LayerErrorsNameNumberAndType) {
  EXPECT_EQ(layers_error({{{"type", "flatten"}}, {{"type", "convolutoin"}}}),
            "r.toml: [[model.layers]] layer 2: unknown layer 'convolutoin'; did you mean "
            "'convolution'?");
  EXPECT_EQ(layers_error({{{"type", "flatten"}}, {{"type", "linear"}}}),
            "r.toml: [[model.layers]] layer 2 (linear): 'units' is missing, expected an integer: "
            "outputs of the layer");
  EXPECT_EQ(layers_error({{{"type", "flatten"}}, {{"type", "linear"}, {"unit", 3}}}),
            "r.toml: [[model.layers]] layer 2 (linear): unknown key 'unit'; did you mean 'units'?");
  EXPECT_EQ(layers_error({{{"type", "convolution"}, {"channels", 2}, {"kernel", 29}}}),
            "r.toml: [[model.layers]] layer 1 (convolution): [convolution] a window that spans 29 "
            "does not fit into an extent of 28 with padding 0");
}

TEST(BuildNet, ATableNeedsAType) {
  for (const Settings& table : {Settings{{"units", 3}}, Settings{{"type", 3}}})
    EXPECT_EQ(layers_error({table}).find("r.toml: [[model.layers]] layer 1: 'type' is missing or "
                                         "not a string, expected one of: linear, convolution"),
              0u);
}

TEST(BuildNet, NoLayersIsAnError) {
  EXPECT_EQ(layers_error({}),
            "r.toml: [[model.layers]]: there are no layers, expected at least one table");
  EXPECT_EQ(test::error_of([] { build_net(models().find("layers"), {}, digits); }),
            "[model] layers: there are no layers: add [[model.layers]] tables, or choose another "
            "model");
}

TEST(BuildNet, TheOutputMustFitTheClassesOrTargets) {
  EXPECT_EQ(layers_error({{{"type", "flatten"}}, {{"type", "linear"}, {"units", 9}}}),
            "r.toml: [[model.layers]]: the output is 4×9, expected 4×10 (batch × classes): change "
            "the last layers");
  EXPECT_EQ(layers_error({{{"type", "relu"}}}, {.fields = input_and_targets({5}, {3})}),
            "r.toml: [[model.layers]]: the output is 1×5, expected 1×3 (batch × targets): change "
            "the last layers");
}

TEST(BuildNet, ModelErrorsBeginWithThePlace) {
  const auto error = [](const char* name, const Settings& settings, const Shape& sample) {
    return test::error_of([&] {
      build_net(models().find(name), settings, {.fields = input_and_labels(sample), .classes = 10},
                "r.toml: [model]");
    });
  };
  EXPECT_EQ(error("mlp", {{"hiden", 3}}, {4}),
            "r.toml: [model] mlp: unknown key 'hiden'; did you mean 'hidden'?");
  EXPECT_EQ(error("lenet", {}, {784}),
            "r.toml: [model] lenet: samples are 784, expected channels × height × width");
}

}  // namespace
}  // namespace tutti
