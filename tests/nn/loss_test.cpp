// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/loss.h"

#include "tutti/graph/op.h"
#include "tutti/nn/layer.h"

#include "nn/run_net.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

Net net_with(const char* loss, const Settings& settings, std::int64_t classes,
             bool training = true) {
  return build_net(layers(), {{{"type", "linear"}, {"units", 3}}},
                   {.fields = classes > 0 ? input_and_labels({4}) : input_and_targets({4}, {3}),
                    .classes = classes,
                    .batch = 2,
                    .dtype = DType::f64,
                    .training = training,
                    .loss = losses().find(loss),
                    .loss_settings = settings},
                   "here");
}

const Node& loss_node(const Net& net) {
  return net.graph.nodes[static_cast<std::size_t>(net.graph.value(net.loss).producer)];
}

TEST(Losses, AutoTakesWhatFitsTheData) {
  EXPECT_EQ(loss_node(net_with("auto", {}, 3)).op->name, "softmax_cross_entropy");
  EXPECT_EQ(loss_node(net_with("auto", {}, 0)).op->name, "mean_squared_error");
  EXPECT_EQ(net_with("auto", {}, 0).layers.back().type, "mean_squared_error");
}

TEST(Losses, SmoothingHoldsInTrainingOnly) {
  const Settings given{{"smoothing", 0.1}};
  EXPECT_EQ(loss_node(net_with("cross_entropy", given, 3)).settings.real("smoothing"), 0.1);
  EXPECT_EQ(loss_node(net_with("cross_entropy", given, 3, false)).settings.real("smoothing"), 0);
  EXPECT_EQ(loss_node(net_with("auto", given, 3)).settings.real("smoothing"), 0.1);
  EXPECT_NE(test::error_of([&] { net_with("auto", given, 0); }).find("needs classes"),
            std::string::npos);
}

TEST(Losses, HuberIsToldItsDelta) {
  EXPECT_EQ(loss_node(net_with("huber", {{"delta", 0.5}}, 0)).settings.real("delta"), 0.5);
}

TEST(Losses, EachEntryIsDocumented) {
  for (const Loss& loss : losses()) {
    EXPECT_FALSE(loss.doc.empty()) << loss.name;
    for (const Setting& setting : loss.settings) EXPECT_FALSE(setting.doc.empty()) << loss.name;
  }
}

TEST(Losses, Refusals) {
  EXPECT_EQ(test::error_of([] { net_with("huber", {}, 3); }),
            "here: loss 'huber' needs targets, but the data has 3 classes: expected cross_entropy");
  EXPECT_EQ(test::error_of([] { net_with("mse", {}, 3); }),
            "here: loss 'mse' needs targets, but the data has 3 classes: expected cross_entropy");
  EXPECT_EQ(test::error_of([] { net_with("cross_entropy", {}, 0); }),
            "here: loss 'cross_entropy' needs classes, but the data has targets: expected mse or "
            "huber");
}

}  // namespace
}  // namespace tutti
