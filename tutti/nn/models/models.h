// SPDX-License-Identifier: Apache-2.0
// The library's models, and what they share.
#pragma once

#include "tutti/nn/net.h"

namespace tutti::nn {

extern const Model mlp, token_mlp, dsn, lenet, lenet5;
extern const Model alexnet, vgg16, googlenet, squeezenet, mobilenet;
std::vector<Model> resnets(), densenets();

// The samples and classes of ImageNet and of CIFAR-10.
inline const Shape imagenet_shape{3, 224, 224}, cifar_shape{3, 32, 32};
constexpr std::int64_t imagenet_classes = 1000, cifar_classes = 10;

// Throws unless x is [n, c, h, w] with images of this height and width at least.
void check_is_image(const Net& net, ValueId x, std::int64_t smallest = 1);

// x[n, elements of the output] in the output's shape.
ValueId in_output_shape(Net& net, ValueId x);

// A linear layer called `name` with as many units as the output has, in the output's shape.
ValueId output_layer(Net& net, ValueId x, const std::string& name);

}  // namespace tutti::nn
