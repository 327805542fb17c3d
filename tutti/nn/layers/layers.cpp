// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/layer.h"

namespace tutti {

List<Layer> layers() {
  return {"layer",
          {nn::linear,
           nn::convolution,
           nn::transposed_convolution,
           nn::separable_convolution,
           nn::tucker_convolution,
           nn::reshaped_convolution,
           nn::tiled_convolution,
           nn::locally_connected,
           nn::similarity,
           nn::embedding,
           nn::token_mean,
           nn::max_pool,
           nn::average_pool,
           nn::global_average_pool,
           nn::upsample,
           nn::relu,
           nn::leaky_relu,
           nn::parametric_relu,
           nn::sigmoid,
           nn::tanh,
           nn::gelu,
           nn::softmax,
           nn::batch_norm,
           nn::layer_norm,
           nn::group_norm,
           nn::rms_norm,
           nn::local_response,
           nn::dropout,
           nn::flatten,
           nn::reshape}};
}

std::vector<Setting> table_settings(const Layer& layer) {
  std::vector<Setting> all{
      {.name = "type", .initial = layer.name, .doc = "the layer", .choices = {layer.name}},
      {.name = "name",
       .initial = std::string(),
       .doc = "begins the names of its parameters; empty: type and number"}};
  all.insert(all.end(), layer.settings.begin(), layer.settings.end());
  return all;
}

}  // namespace tutti
