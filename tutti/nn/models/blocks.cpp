// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/models/blocks.h"

#include "tutti/ops/add.h"
#include "tutti/ops/concatenate.h"

namespace tutti::nn {

namespace {

ValueId convolved(Net& net, ValueId x, const std::string& name, const ConvolutionShape& shape,
                  bool bias) {
  return net.apply(convolution, x,
                   {{"name", name},
                    {"channels", shape.channels},
                    {"kernel", shape.kernel},
                    {"stride", shape.stride},
                    {"padding", shape.padding},
                    {"groups", shape.groups},
                    {"bias", bias},
                    {"init", "he"}});
}

}  // namespace

ValueId plain_convolution(Net& net, ValueId x, const std::string& name,
                          const ConvolutionShape& shape) {
  return convolved(net, x, name, shape, false);
}

ValueId convolution_norm(Net& net, ValueId x, const std::string& name, const std::string& norm,
                         const ConvolutionShape& shape) {
  return net.apply(batch_norm, plain_convolution(net, x, name, shape), {{"name", norm}});
}

ValueId convolution_relu(Net& net, ValueId x, const std::string& name,
                         const ConvolutionShape& shape) {
  return net.apply(relu, convolved(net, x, name, shape, true));
}

ValueId linear_relu(Net& net, ValueId x, const std::string& name, std::int64_t units) {
  return net.apply(relu, net.apply(linear, x, {{"name", name}, {"units", units}, {"init", "he"}}));
}

ValueId concatenated(Net& net, const std::vector<ValueId>& parts, const std::string& name) {
  return net.layer(name, "concatenate", [&] { return net.graph.add1(ops::concatenate, parts); });
}

Setting lrn_setting(const std::string& place) {
  return {.name = "lrn", .initial = true, .doc = "local response normalisation after " + place};
}

Setting dropout_setting(double rate, const std::string& place) {
  return {.name = "dropout",
          .initial = rate,
          .doc = "rate of the dropout " + place + "; 0: none",
          .min = 0,
          .max = 0.99};
}

Setting units_setting() {
  return {.name = "units",
          .initial = std::int64_t{4096},
          .doc = "units of each of the two hidden linear layers",
          .min = 1,
          .max = 1e6};
}

ValueId add_relu(Net& net, ValueId x, ValueId y, const std::string& name) {
  return net.apply(relu, net.layer(name, "add", [&] { return net.graph.add1(ops::add, {x, y}); }));
}

ValueId average_and_output(Net& net, ValueId x, const std::string& name) {
  return output_layer(net, net.apply(flatten, net.apply(global_average_pool, x)), name);
}

}  // namespace tutti::nn
