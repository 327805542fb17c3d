// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/models/blocks.h"

#include "tutti/ops/add.h"

namespace tutti::nn {

ValueId convolution_norm(Net& net, ValueId x, const std::string& name, const std::string& norm,
                         const ConvolutionShape& shape) {
  x = net.apply(convolution, x,
                {{"name", name},
                 {"channels", shape.channels},
                 {"kernel", shape.kernel},
                 {"stride", shape.stride},
                 {"padding", shape.padding},
                 {"groups", shape.groups},
                 {"bias", false},
                 {"init", "he"}});
  return net.apply(batch_norm, x, {{"name", norm}});
}

ValueId add_relu(Net& net, ValueId x, ValueId y, const std::string& name) {
  return net.apply(relu, net.layer(name, "add", [&] { return net.graph.add1(ops::add, {x, y}); }));
}

ValueId average_and_output(Net& net, ValueId x, const std::string& name) {
  return output_layer(net, net.apply(flatten, net.apply(global_average_pool, x)), name);
}

}  // namespace tutti::nn
