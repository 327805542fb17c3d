// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/layer.h"

namespace tutti {

List<Layer> layers() {
  return {"layer",
          {nn::linear, nn::convolution, nn::max_pool, nn::average_pool, nn::global_average_pool,
           nn::relu, nn::leaky_relu, nn::sigmoid, nn::tanh, nn::gelu, nn::softmax, nn::batch_norm,
           nn::dropout, nn::flatten, nn::reshape}};
}

std::vector<Setting> table_settings(const Layer& layer) {
  std::vector<Setting> all{
      {.name = "type", .initial = layer.name, .doc = "the layer", .choices = {layer.name}},
      {.name = "name",
       .initial = std::string(),
       .doc = "of its parameters; empty: type and number"}};
  all.insert(all.end(), layer.settings.begin(), layer.settings.end());
  return all;
}

}  // namespace tutti
