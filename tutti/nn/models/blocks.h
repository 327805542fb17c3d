// SPDX-License-Identifier: Apache-2.0
// Sequences of layers and settings that convolutional models share.
#pragma once

#include "tutti/nn/layer.h"
#include "tutti/nn/models/models.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::nn {

struct ConvolutionShape {
  std::int64_t channels = 1, kernel = 1, stride = 1, padding = 0, groups = 1;
};

// Convolution without bias as layer `name`.
ValueId plain_convolution(Net& net, ValueId x, const std::string& name,
                          const ConvolutionShape& shape);

// Convolution without bias as layer `name`, then batch normalisation as layer `norm`.
ValueId convolution_norm(Net& net, ValueId x, const std::string& name, const std::string& norm,
                         const ConvolutionShape& shape);

// Convolution with bias as layer `name`, then ReLU.
ValueId convolution_relu(Net& net, ValueId x, const std::string& name,
                         const ConvolutionShape& shape);

// Linear layer `name`, then ReLU.
ValueId linear_relu(Net& net, ValueId x, const std::string& name, std::int64_t units);

// The channels of all `parts` one after the other, as a layer.
ValueId concatenated(Net& net, const std::vector<ValueId>& parts, const std::string& name);

// Setting `lrn`: whether local response normalisation follows `place`.
Setting lrn_setting(const std::string& place);

// Setting `dropout`: the rate of the dropout layers at `place`.
Setting dropout_setting(double rate, const std::string& place);

// Setting `units`: the units of each hidden linear layer.
Setting units_setting();

// x + y as a layer, then ReLU.
ValueId add_relu(Net& net, ValueId x, ValueId y, const std::string& name);

// Global average, then the output layer.
ValueId average_and_output(Net& net, ValueId x, const std::string& name);

}  // namespace tutti::nn
