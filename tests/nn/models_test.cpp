// SPDX-License-Identifier: Apache-2.0
// The models: parameter counts (K11), the gradient of each against finite differences, and what is
// special about LeNet-5.
#include "tutti/graph/verify.h"
#include "tutti/nn/describe.h"
#include "tutti/nn/models/digit_codes.h"
#include "tutti/nn/net.h"
#include "tutti/passes/autodiff.h"

#include "nn/run_net.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tutti {
namespace {

Net net_of(const char* name, Shape sample = {1, 28, 28}, std::int64_t classes = 10,
           DType dtype = DType::f32, const Settings& settings = {}) {
  return build_net(
      models().find(name), settings,
      {.fields = input_and_labels(std::move(sample)), .classes = classes, .dtype = dtype});
}

std::string error_of(const char* name, const Shape& sample, std::int64_t classes = 10) {
  return test::error_of([&] { net_of(name, sample, classes); });
}

std::int64_t parameters_of(const Net& net, const std::string& layer) {
  std::int64_t total = 0;
  for (const LayerInfo& info : net.layers)
    if (info.name == layer)
      for (const int i : info.ranges) total += net.table.ranges[static_cast<std::size_t>(i)].count;
  return total;
}

TEST(Models, ParameterCounts) {
  EXPECT_EQ(net_of("mlp").table.parameters(true), 1'863'690);
  EXPECT_EQ(net_of("lenet").table.parameters(true), 61'706);
}

TEST(Models, K11LeNet5Has60000Parameters) {
  for (const std::int64_t extent : {28, 32}) {
    const Net net = net_of("lenet5", {1, extent, extent});
    verify(net.graph, "lenet5");
    EXPECT_EQ(net.table.parameters(true), 60'000);
    EXPECT_EQ(parameters_of(net, "c1"), 156);
    EXPECT_EQ(parameters_of(net, "s2"), 12);
    EXPECT_EQ(parameters_of(net, "c3"), 1'516);
    EXPECT_EQ(parameters_of(net, "s4"), 32);
    EXPECT_EQ(parameters_of(net, "c5"), 48'120);
    EXPECT_EQ(parameters_of(net, "f6"), 10'164);
    EXPECT_EQ(net.table.parameters(false), 60'840);
    EXPECT_FALSE(net.table.find("output.codes").trainable);
  }
}

TEST(Models, K11ResNets) {
  struct Known {
    const char* name;
    std::int64_t parameters;
    double multiply_adds;
  };
  for (const Known& known : {Known{"resnet50", 25'557'032, 3'857'973'248.0},
                             Known{"resnet101", 44'549'160, 7'570'194'432.0},
                             Known{"resnet152", 60'192'808, 11'282'415'616.0}}) {
    const Net net = net_of(known.name, {3, 224, 224}, 1000);
    EXPECT_EQ(net.table.parameters(true), known.parameters) << known.name;
    EXPECT_EQ(forward_cost(net).multiply_adds, known.multiply_adds) << known.name;
  }
  const Net net = net_of("resnet110", {3, 32, 32}, 10);
  EXPECT_EQ(net.table.parameters(true), 1'727'962);
  EXPECT_EQ(forward_cost(net).multiply_adds, 252'887'680);
  EXPECT_EQ(net_of("resnet18", {3, 224, 224}, 1000).table.parameters(true), 11'689'512);
  EXPECT_EQ(net_of("resnet20", {3, 32, 32}, 10).table.parameters(true), 269'722);
}

// Ours and the published ones where there are any; multiply–adds of one sample.
TEST(Models, K11ConvolutionalNetworks) {
  struct Known {
    const char* name;
    std::int64_t parameters;
    double multiply_adds;
    Settings settings = {};
  };
  for (const Known& known :
       {Known{"alexnet", 60'965'224, 724'406'816.0},
        Known{"alexnet", 62'378'344, 1'135'256'096.0, {{"groups", 1}}},
        Known{"googlenet", 6'998'552, 1'582'671'872.0},
        Known{"squeezenet", 1'248'424, 818'924'576.0},
        Known{"vgg16", 138'357'544, 15'470'264'320.0}, Known{"mobilenet", 4'231'976, 568'740'352.0},
        Known{"densenet121", 7'978'856, 2'834'161'664.0},
        Known{"densenet169", 14'149'480, 3'359'843'328.0},
        Known{"densenet201", 20'013'928, 4'291'365'888.0},
        Known{"densenet264", 33'337'704, 5'751'653'376.0},
        Known{"densenet_bc100_12", 769'162, 287'929'692.0},
        Known{"densenet_bc250_24", 15'324'406, 5'418'785'724.0},
        Known{"densenet_bc190_40", 25'624'430, 9'301'945'740.0}}) {
    const List<Model> all = models();
    const Model& model = all.find(known.name);
    const Net net =
        net_of(known.name, model.sample_shape, model.classes, DType::f32, known.settings);
    verify(net.graph, known.name);
    EXPECT_EQ(net.table.parameters(true), known.parameters) << known.name;
    EXPECT_EQ(forward_cost(net).multiply_adds, known.multiply_adds) << known.name;
  }
}

TEST(Models, B30SqueezeNetHasFewParameters) {
  const auto parameters = [](const char* name) {
    return static_cast<double>(net_of(name, {3, 224, 224}, 1000).table.parameters(true));
  };
  EXPECT_NEAR(parameters("alexnet") / parameters("squeezenet"), 48.8, 0.05);
}

// So that weights travel.
TEST(Models, ParametersAreNamedAsInTorchvision) {
  const auto shape_of = [](const char* model, const char* parameter) {
    return net_of(model, {3, 224, 224}, 1000).table.find(parameter).shape;
  };
  EXPECT_EQ(shape_of("alexnet", "features.3.weight"), (Shape{256, 48, 5, 5}));
  EXPECT_EQ(shape_of("alexnet", "classifier.1.weight"), (Shape{4096, 9216}));
  EXPECT_EQ(shape_of("vgg16", "features.28.bias"), (Shape{512}));
  EXPECT_EQ(shape_of("vgg16", "classifier.0.weight"), (Shape{4096, 25088}));
  EXPECT_EQ(shape_of("googlenet", "inception4e.branch3.1.conv.weight"), (Shape{128, 32, 5, 5}));
  EXPECT_EQ(shape_of("squeezenet", "features.12.expand3x3.weight"), (Shape{256, 64, 3, 3}));
  EXPECT_EQ(shape_of("squeezenet", "classifier.1.weight"), (Shape{1000, 512, 1, 1}));
  EXPECT_EQ(shape_of("densenet121", "features.denseblock4.denselayer16.norm1.weight"),
            (Shape{992}));
  EXPECT_EQ(shape_of("densenet121", "features.transition3.conv.weight"), (Shape{512, 1024, 1, 1}));
  EXPECT_EQ(shape_of("densenet121", "features.norm5.bias"), (Shape{1024}));
  EXPECT_EQ(shape_of("mobilenet", "features.13.0.weight"), (Shape{1024, 1, 3, 3}));
}

TEST(Models, SettingsOfConvolutionalNetworks) {
  const auto layers_of_type = [](const Net& net, const std::string& type) {
    return std::count_if(net.layers.begin(), net.layers.end(),
                         [&](const LayerInfo& layer) { return layer.type == type; });
  };
  const Shape image{3, 64, 64};
  EXPECT_EQ(layers_of_type(net_of("alexnet", image), "local_response"), 2);
  EXPECT_EQ(layers_of_type(net_of("googlenet", image), "local_response"), 2);
  const Net plain = net_of("alexnet", image, 10, DType::f32, {{"lrn", false}, {"dropout", 0.0}});
  EXPECT_EQ(layers_of_type(plain, "local_response"), 0);
  EXPECT_EQ(
      net_of("mobilenet", {3, 224, 224}, 1000, DType::f32, {{"width", 0.5}}).table.parameters(true),
      1'331'592);
}

TEST(Models, MultiplyAddsOfLeNet) {
  EXPECT_EQ(forward_cost(net_of("lenet")).multiply_adds, 416'520);
  EXPECT_EQ(forward_cost(net_of("mlp")).multiply_adds, 1'861'632);
}

TEST(Models, LeNetTakesOtherImages) {
  EXPECT_EQ(net_of("lenet", {3, 32, 32}).table.find("fc1.weight").shape, (Shape{120, 576}));
  EXPECT_EQ(net_of("lenet", {1, 12, 13}).table.find("fc1.weight").shape, (Shape{120, 16}));
}

TEST(Models, MlpSettings) {
  const Net net =
      net_of("mlp", {6}, 3, DType::f32, {{"hidden", Shape{5, 4}}, {"activation", "tanh"}});
  EXPECT_EQ(net.table.parameters(true), 6 * 5 + 5 + 5 * 4 + 4 + 4 * 3 + 3);
  EXPECT_EQ(net.layers[2].type, "tanh");
  EXPECT_EQ(net_of("mlp", {6}, 3, DType::f32, {{"hidden", Shape{}}}).table.parameters(true), 21);
}

TEST(Models, Refusals) {
  EXPECT_EQ(error_of("lenet", {1, 8, 8}),
            "[model] lenet: images are 8×8, expected at least 12×12: enlarge them, or choose "
            "another model");
  EXPECT_EQ(error_of("lenet5", {1, 8, 8}),
            "[model] lenet5: images are 1×8×8, expected 1×32×32 or 1×28×28: resize them, or choose "
            "lenet");
  EXPECT_EQ(error_of("lenet5", {1, 28, 28}, 11),
            "[model] lenet5: there are 11 classes, expected 1 to 10, for which it has bitmaps: "
            "choose lenet");
  EXPECT_EQ(error_of("lenet5", {784}),
            "[model] lenet5: samples are 784, expected channels × height × width");
  for (const auto& [name, smallest] :
       std::vector<std::pair<const char*, std::int64_t>>{{"alexnet", 63},
                                                         {"vgg16", 32},
                                                         {"googlenet", 31},
                                                         {"squeezenet", 21},
                                                         {"densenet121", 29},
                                                         {"densenet_bc100_12", 4},
                                                         {"resnet18", 32}}) {
    EXPECT_EQ(error_of(name, {3, smallest - 1, smallest}),
              fmt::format("[model] {}: images are {}×{}, expected at least {}×{}: enlarge them, or "
                          "choose another model",
                          name, smallest - 1, smallest, smallest, smallest));
    EXPECT_EQ(error_of(name, {3, smallest, smallest}), "");
  }
  EXPECT_EQ(error_of("mobilenet", {1, 1, 1}), "");
  EXPECT_EQ(error_of("lenett", {1, 28, 28}), "unknown model 'lenett'; did you mean 'lenet'?");
}

// A07: the derivative by one element of each range against a central difference, in double.
TEST(Models, A07GradientsAgainstFiniteDifferences) {
  Net nets[] = {net_of("mlp", {9}, 4, DType::f64, {{"hidden", Shape{8, 7}}}),
                net_of("lenet", {1, 14, 14}, 4, DType::f64),
                net_of("lenet5", {1, 28, 28}, 10, DType::f64)};
  for (Net& net : nets) {
    const Graph forward = net.graph;
    differentiate(net.graph, net.loss, net.table, net.parameters);
    contract::Values values = test::first_values(net);
    const contract::Values all = contract::evaluate(net.graph, values);
    for (std::size_t r = 0; r < net.parameters.size(); ++r) {
      const Range& range = net.table.ranges[r];
      if (!range.trainable) continue;
      const Place place{Base::gradients, range.offset * 8};
      ValueId gradient = 0;
      while (net.graph.value(gradient).place != place) ++gradient;
      contract::Array& w = values.at(net.parameters[r]);
      const std::int64_t i = range.count / 3;
      const double middle = w.get(i), h = 1e-6;
      const auto loss_at = [&](double value) {
        w.set(i, value);
        return contract::evaluate(forward, values).at(net.loss).get(0);
      };
      const double slope = (loss_at(middle + h) - loss_at(middle - h)) / (2 * h);
      w.set(i, middle);
      // Central differences: O(h²) and rounding of 1e-16/h.
      EXPECT_NEAR(all.at(gradient).get(i), slope, 1e-8) << range.name;
    }
  }
}

// Padding 2 on 28×28 is the 32×32 image with an empty frame.
TEST(LeNet5, SmallImagesArePadded) {
  const Net small = net_of("lenet5", {1, 28, 28}, 10, DType::f64);
  const Net large = net_of("lenet5", {1, 32, 32}, 10, DType::f64);
  contract::Values a = test::first_values(small), b = test::first_values(large);
  contract::Array framed({DType::f64, {1, 1, 32, 32}});
  for (std::int64_t i = 0; i < 28 * 28; ++i)
    framed.set((i / 28 + 2) * 32 + i % 28 + 2, a.at(small.input).get(i));
  b.insert_or_assign(large.input, framed);
  b.insert_or_assign(large.labels, a.at(small.labels));
  EXPECT_EQ(contract::difference(contract::evaluate(small.graph, a).at(small.output),
                                 contract::evaluate(large.graph, b).at(large.output)),
            0);
}

// Map c of S2 is made 2^c/32 everywhere and the weights of C3 one: each map of C3 then holds, times
// 32/25, the set of maps it sees as bits.
TEST(LeNet5, ConnectionsOfC3) {
  const Net net = net_of("lenet5", {1, 28, 28}, 10, DType::f64);
  contract::Values values = test::first_values(net);
  for (std::size_t r = 0; r < net.parameters.size(); ++r) {
    const std::string& name = net.table.ranges[r].name;
    contract::Array& w = values.at(net.parameters[r]);
    for (std::int64_t i = 0; i < w.count(); ++i) {
      if (name == "s2.coefficient") w.set(i, 0);
      if (name == "s2.bias") w.set(i, 1.5 * std::atanh(std::pow(2, i) / 32 / 1.7159));
      if (name.starts_with("c3.")) w.set(i, name.ends_with("weight") ? 1 : 0);
    }
  }
  ValueId c3 = no_value;
  for (const LayerInfo& layer : net.layers)
    if (layer.name == "c3") c3 = layer.output;
  const contract::Array maps = contract::evaluate(net.graph, values).at(c3);
  const int seen[] = {0b000111, 0b001110, 0b011100, 0b111000, 0b110001, 0b100011,
                      0b001111, 0b011110, 0b111100, 0b111001, 0b110011, 0b100111,
                      0b011011, 0b110110, 0b101101, 0b111111};
  for (std::int64_t map = 0; map < 16; ++map)
    EXPECT_NEAR(maps.get(map * 100 + 50) * 32 / 25, seen[map], 1e-9) << map;
}

// Logits are −½‖f − code‖² up to a constant that all classes share.
TEST(LeNet5, LogitsAreDistancesToTheCodes) {
  const Net net = net_of("lenet5", {1, 28, 28}, 10, DType::f64);
  const contract::Values all = contract::evaluate(net.graph, test::first_values(net));
  const contract::Array& logits = all.at(net.output);
  const contract::Array& f = all.at(net.layers[net.layers.size() - 3].output);
  const std::vector<float> codes = nn::digit_codes(10);
  const auto distance = [&](std::int64_t digit) {
    double sum = 0;
    for (std::int64_t i = 0; i < 84; ++i)
      sum += std::pow(f.get(i) - codes[static_cast<std::size_t>(84 * digit + i)], 2);
    return -sum / 2;
  };
  for (std::int64_t digit = 1; digit < 10; ++digit)
    EXPECT_NEAR(logits.get(digit) - logits.get(0), distance(digit) - distance(0), 1e-10);
}

TEST(DigitCodes, AreTenDifferentBitmaps) {
  const std::vector<float> codes = nn::digit_codes(10);
  ASSERT_EQ(codes.size(), 840u);
  std::set<std::vector<float>> different;
  for (auto digit = codes.begin(); digit != codes.end(); digit += 84)
    different.insert({digit, digit + 84});
  EXPECT_EQ(different.size(), 10u);
  for (const float pixel : codes) EXPECT_EQ(std::abs(pixel), 1);
}

}  // namespace
}  // namespace tutti
