// SPDX-License-Identifier: Apache-2.0
// Layers: operators with parameters and with the settings that a user gives. [[model.layers]] of a
// recipe and the models in C++ use the same layers. A new layer is a file in layers/ and a line
// here and in layers/layers.cpp.
#pragma once

#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/nn/net.h"

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct Layer {
  std::string name, doc;
  std::vector<Setting> settings = {};
  // Adds the layer's nodes and parameters; `settings` are resolved. Throws Error when the shape of
  // x does not fit the layer.
  ValueId (*apply)(Net& net, ValueId x, const Settings& settings) = nullptr;
};

List<Layer> layers();

// What the layer's table in a recipe may hold: 'type', 'name' and the layer's own settings.
std::vector<Setting> table_settings(const Layer& layer);

// Throws Error when an integer setting is so large that sizes computed from it might overflow.
void require_sizes(const Settings& settings, std::string_view where);

namespace nn {

extern const Layer linear, similarity, embedding, token_mean, convolution, transposed_convolution;
extern const Layer separable_convolution, tucker_convolution, reshaped_convolution;
extern const Layer tiled_convolution, locally_connected;
extern const Layer max_pool, average_pool, global_average_pool, upsample;
extern const Layer relu, leaky_relu, parametric_relu, sigmoid, tanh, gelu, softmax;
extern const Layer batch_norm, layer_norm, group_norm, rms_norm, local_response;
extern const Layer dropout, flatten, reshape;

}  // namespace nn
}  // namespace tutti
