// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/net.h"

#include "tutti/graph/verify.h"
#include "tutti/nn/layer.h"

#include "nn/run_net.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

Net with_input(Shape shape) {
  Net net;
  net.input = net.graph.add_value("input", {DType::f32, std::move(shape)});
  return net;
}

TEST(Net, ParametersLieInTheFlatVectorInOrder) {
  Net net = with_input({2, 3});
  net.dtype = DType::f64;
  const ValueId a = net.parameter("a", {3, 5}, {});
  const ValueId b = net.parameter("b", {2}, {}, {.trainable = false, .weight_decay = 0, .rate = 2});
  EXPECT_EQ(net.graph.value(a).place, (Place{Base::weights, 0}));
  EXPECT_EQ(net.graph.value(b).place, (Place{Base::weights, net.table.ranges[1].offset * 8}));
  EXPECT_EQ(net.table.ranges[1].offset, RangeTable::alignment);
  EXPECT_EQ(net.parameters, (std::vector<ValueId>{a, b}));
  EXPECT_TRUE(net.table.ranges[0].trainable);
  EXPECT_FALSE(net.table.ranges[1].trainable);
  EXPECT_EQ(net.table.ranges[1].weight_decay, 0);
  EXPECT_EQ(net.table.ranges[1].rate, 2);
}

TEST(Net, GivenValuesMustBeAsManyAsElements) {
  Net net;
  EXPECT_THROW(net.parameter("a", {3}, {.kind = Initialiser::given, .values = {1, 2}}),
               std::logic_error);
}

TEST(Net, ALayerOwnsWhatItAdds) {
  Net net = with_input({2, 3});
  ValueId x = net.apply(nn::linear, net.input, {{"units", 4}});
  x = net.apply(nn::relu, x);
  x = net.apply(nn::linear, x, {{"name", "head"}, {"units", 5}, {"bias", false}});
  ASSERT_EQ(net.layers.size(), 3u);
  EXPECT_EQ(net.layers[0].name, "linear1");
  EXPECT_EQ(net.layers[0].first_node, 0);
  EXPECT_EQ(net.layers[0].last_node, 2);  // product, bias
  EXPECT_EQ(net.layers[0].ranges, (std::vector<int>{0, 1}));
  EXPECT_EQ(net.layers[1].first_node, 2);
  EXPECT_TRUE(net.layers[1].ranges.empty());
  EXPECT_EQ(net.layers[2].output, x);
  EXPECT_EQ(net.layers[2].ranges, (std::vector<int>{2}));
  EXPECT_EQ(net.table.ranges[2].name, "head.weight");
  EXPECT_EQ(net.graph.nodes[1].name, "linear1");
  EXPECT_TRUE(net.graph.scope.empty());
  verify(net.graph, "layers");
}

TEST(Net, DefaultNamesAvoidTakenOnes) {
  Net net = with_input({2, 3});
  net.apply(nn::relu, net.input, {{"name", "relu1"}});
  net.apply(nn::relu, net.input);
  EXPECT_EQ(net.layers[1].name, "relu2");
}

TEST(Net, TwoLayersOfOneNameAreRefused) {
  Net net = with_input({2, 3});
  net.apply(nn::relu, net.input, {{"name", "a"}});
  EXPECT_EQ(test::error_of([&] {
              net.apply(nn::tanh, net.input, {{"name", "a"}}, "here");
            }),
            "here: there is a layer 'a' already: give each layer its own name");
}

TEST(Net, MessagesNameTheLayerWhenNoPlaceIsGiven) {
  Net net = with_input({2, 3});
  EXPECT_EQ(test::error_of([&] { net.apply(nn::linear, net.input); }),
            "layer linear: 'units' is missing, expected an integer: outputs of the layer");
}

}  // namespace
}  // namespace tutti
