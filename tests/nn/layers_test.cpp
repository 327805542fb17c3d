// SPDX-License-Identifier: Apache-2.0
// Each layer alone: the shape it returns, its parameters, and what it refuses.
#include "tutti/graph/op.h"
#include "tutti/nn/layer.h"

#include "nn/apply_layer.h"
#include "nn/run_net.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using test::applied;
using test::Applied;

std::string error_of(const char* layer, const Settings& settings, const Shape& shape) {
  return test::layer_error(layer, settings, shape);
}

TEST(Layers, OutputShapes) {
  const struct {
    const char* layer;
    Settings settings;
    Shape in, out;
  } cases[] = {
      {"linear", {{"units", 5}}, {2, 3}, {2, 5}},
      {"convolution", {{"channels", 8}, {"kernel", 3}}, {2, 4, 9, 7}, {2, 8, 7, 5}},
      {"convolution", {{"channels", 8}, {"kernel", 3}}, {2, 4, 9}, {2, 8, 7}},
      {"convolution", {{"channels", 8}, {"kernel", 3}}, {2, 4, 9, 7, 5}, {2, 8, 7, 5, 3}},
      {"convolution",
       {{"channels", 8},
        {"kernel", Shape{3, 1}},
        {"stride", 2},
        {"padding", Shape{1, 0}},
        {"dilation", 2},
        {"groups", 4}},
       {2, 4, 9, 7},
       {2, 8, 4, 4}},
      {"max_pool", {{"kernel", 2}}, {2, 4, 8, 6}, {2, 4, 4, 3}},
      {"max_pool", {{"kernel", 3}, {"stride", 2}, {"padding", 1}}, {2, 4, 8, 6}, {2, 4, 4, 3}},
      {"average_pool", {{"kernel", Shape{2, 3}}}, {2, 4, 8, 6}, {2, 4, 4, 2}},
      {"global_average_pool", {}, {2, 4, 8, 6}, {2, 4}},
      {"upsample", {{"factor", Shape{2, 3}}}, {2, 4, 8, 6}, {2, 4, 16, 18}},
      {"local_response", {{"size", 3}}, {2, 4, 8, 6}, {2, 4, 8, 6}},
      {"similarity", {{"units", 5}, {"kind", "l2"}}, {2, 3}, {2, 5}},
      {"parametric_relu", {{"shared", true}}, {2, 3}, {2, 3}},
      {"relu", {}, {2, 3}, {2, 3}},
      {"leaky_relu", {{"slope", 0.2}}, {2, 3}, {2, 3}},
      {"sigmoid", {}, {2, 3}, {2, 3}},
      {"tanh", {}, {2, 3}, {2, 3}},
      {"gelu", {}, {2, 3}, {2, 3}},
      {"softmax", {}, {2, 3}, {2, 3}},
      {"dropout", {{"rate", 0.5}}, {2, 3}, {2, 3}},
      {"flatten", {}, {2, 3, 4, 5}, {2, 60}},
      {"flatten", {}, {2}, {2, 1}},
      {"reshape", {{"shape", Shape{4, 15}}}, {2, 3, 4, 5}, {2, 4, 15}},
      {"reshape", {{"shape", Shape{-1, 5}}}, {2, 60}, {2, 12, 5}},
  };
  for (const auto& [layer, settings, in, out] : cases)
    EXPECT_EQ(applied(layer, settings, in).shape(), out) << layer;
}

TEST(Layers, EachEntryIsDocumentedAndNamed) {
  for (const Layer& layer : layers()) {
    EXPECT_FALSE(layer.doc.empty()) << layer.name;
    ASSERT_NE(layer.apply, nullptr) << layer.name;
    for (const Setting& setting : table_settings(layer))
      EXPECT_FALSE(setting.doc.empty()) << layer.name << " " << setting.name;
  }
}

TEST(Layers, WeightsDecayAndBiasesDoNot) {
  for (const char* layer : {"linear", "convolution"}) {
    const bool is_linear = std::string(layer) == "linear";
    const Applied a = is_linear ? applied(layer, {{"units", 5}}, {2, 3})
                                : applied(layer, {{"channels", 5}, {"kernel", 3}}, {2, 3, 4, 4});
    const Range &weight = a.net.table.find(std::string(layer) + "1.weight"),
                &bias = a.net.table.find(std::string(layer) + "1.bias");
    EXPECT_EQ(weight.shape, (is_linear ? Shape{5, 3} : Shape{5, 3, 3, 3}));
    EXPECT_EQ(bias.shape, Shape{5});
    EXPECT_EQ(weight.weight_decay, 1);
    EXPECT_EQ(bias.weight_decay, 0);
  }
}

TEST(Layers, AFrozenLayerHasNoTrainableParameters) {
  const Applied a = applied("linear", {{"units", 5}, {"trainable", false}}, {2, 3});
  EXPECT_EQ(a.net.table.parameters(false), 20);
  EXPECT_EQ(a.net.table.parameters(true), 0);
}

TEST(Layers, LinearIsTheWeightedSumPlusBias) {
  const Applied a = applied("linear", {{"units", 2}}, {1, 3});
  contract::Values values = test::first_parameters(a.net);
  const contract::Array x = contract::random_array({DType::f64, {1, 3}}, 9);
  values.insert_or_assign(a.net.input, x);
  const contract::Array &w = values.at(a.net.parameters[0]), &b = values.at(a.net.parameters[1]);
  const contract::Array y = contract::evaluate(a.net.graph, values).at(a.y);
  for (std::int64_t o = 0; o < 2; ++o)
    EXPECT_NEAR(y.get(o),
                b.get(o) + w.get(3 * o) * x.get(0) + w.get(3 * o + 1) * x.get(1) +
                    w.get(3 * o + 2) * x.get(2),
                1e-14);
}

TEST(Layers, GlobalAveragePoolIsTheMeanOfEachChannel) {
  const Applied a = applied("global_average_pool", {}, {1, 1, 1, 3});
  contract::Array x({DType::f64, {1, 1, 1, 3}});
  for (int i = 0; i < 3; ++i) x.set(i, i * i);
  EXPECT_NEAR(contract::evaluate(a.net.graph, {{a.net.input, x}}).at(a.y).get(0), 5.0 / 3, 1e-15);
}

TEST(Layers, DropoutIsTheIdentityOutsideTraining) {
  const Applied evaluation = applied("dropout", {{"rate", 0.5}}, {2, 3}, false);
  EXPECT_EQ(evaluation.y, evaluation.net.input);
  const Applied training = applied("dropout", {{"rate", 0.5}}, {2, 3}, true);
  EXPECT_EQ(training.net.graph.nodes.at(0).settings.real("rate"), 0.5);
}

TEST(Layers, SettingsReachTheOperator) {
  const Applied a = applied("leaky_relu", {{"slope", 0.25}}, {2, 3});
  EXPECT_EQ(a.net.graph.nodes.at(0).settings.real("slope"), 0.25);
  const Applied c = applied("local_response", {{"alpha", 0.5}, {"k", 1.0}}, {2, 3, 4});
  EXPECT_EQ(c.net.graph.nodes.at(0).settings.real("alpha"), 0.5);
  EXPECT_EQ(c.net.graph.nodes.at(0).settings.real("k"), 1.0);
  const Applied b = applied("softmax", {{"axis", 2}}, {2, 3, 4});
  EXPECT_EQ(b.net.graph.nodes.at(0).settings.integer("axis"), 2);
}

TEST(Layers, Refusals) {
  EXPECT_EQ(error_of("linear", {{"units", 3}}, {2, 1, 4, 4}),
            "here: the input is 2×1×4×4, expected batch × features: put a flatten layer before");
  EXPECT_EQ(error_of("linear", {{"units", 0}}, {2, 3}), "here: 'units' is 0, expected at least 1");
  EXPECT_EQ(error_of("linear", {{"units", 3}, {"init", "hee"}}, {2, 3}),
            "here: 'init' is \"hee\"; did you mean 'he'?");
  EXPECT_EQ(error_of("convolution", {{"channels", 3}, {"kernel", Shape{1, 2, 3}}}, {2, 1, 4, 4}),
            "here: 'kernel' is [1, 2, 3], expected 1 or 2 entries for an image of 4×4");
  EXPECT_EQ(error_of("convolution", {{"channels", 3}, {"kernel", Shape{}}}, {2, 1, 4, 4}),
            "here: 'kernel' is [], expected 1 or 2 entries for an image of 4×4");
  EXPECT_EQ(error_of("convolution", {{"channels", 4}, {"kernel", 1}, {"groups", 2}}, {2, 3, 4, 4}),
            "here: 3 input and 4 output channels can't be divided into 2 groups");
  EXPECT_EQ(error_of("convolution", {{"channels", 4}, {"kernel", 1}}, {2, 3}),
            "here: [convolution] the input is f64 2×3, expected floating-point [n, c, 1 to 3 "
            "spatial extents]");
  EXPECT_EQ(error_of("max_pool", {}, {2, 3, 4, 4}),
            "here: 'kernel' is missing, expected a list of integers: extents of the window; one "
            "number holds for all dimensions");
  EXPECT_EQ(error_of("max_pool", {{"kernel", 5}}, {2, 3, 4, 4}).rfind("here: [max_pool]", 0), 0u);
  EXPECT_EQ(error_of("similarity", {{"units", 3}}, {2, 1, 4}),
            "here: the input is 2×1×4, expected batch × features: put a flatten layer before");
  EXPECT_EQ(error_of("parametric_relu", {}, {2}), "here: the input is 2, expected channels");
  EXPECT_EQ(error_of("group_norm", {}, {2}), "here: the input is 2, expected channels");
  EXPECT_EQ(error_of("dropout", {{"rate", 1.0}}, {2, 3}), "here: 'rate' is 1, expected 0 to 0.99");
  EXPECT_EQ(error_of("reshape", {{"shape", Shape{7}}}, {2, 3}).rfind("here: [reshape]", 0), 0u);
}

}  // namespace
}  // namespace tutti
