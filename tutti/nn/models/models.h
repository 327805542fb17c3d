// SPDX-License-Identifier: Apache-2.0
// The library's models, and what they share.
#pragma once

#include "tutti/nn/net.h"

namespace tutti::nn {

extern const Model mlp, lenet, lenet5;
std::vector<Model> resnets();

// Throws unless x is [n, c, h, w].
void check_is_image(const Net& net, ValueId x);

// A linear layer called `name` with as many units as the output has, in the output's shape.
ValueId output_layer(Net& net, ValueId x, const std::string& name);

}  // namespace tutti::nn
