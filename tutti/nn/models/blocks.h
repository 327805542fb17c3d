// SPDX-License-Identifier: Apache-2.0
// Pieces that convolutional models share.
#pragma once

#include "tutti/nn/layer.h"
#include "tutti/nn/models/models.h"

#include <string>

namespace tutti::nn {

struct ConvolutionShape {
  std::int64_t channels = 1, kernel = 1, stride = 1, padding = 0, groups = 1;
};

// Convolution without bias as layer `name`, then batch normalisation as layer `norm`.
ValueId convolution_norm(Net& net, ValueId x, const std::string& name, const std::string& norm,
                         const ConvolutionShape& shape);

// x + y as a layer, then ReLU.
ValueId add_relu(Net& net, ValueId x, ValueId y, const std::string& name);

// Global average, then the output layer.
ValueId average_and_output(Net& net, ValueId x, const std::string& name);

}  // namespace tutti::nn
