// SPDX-License-Identifier: Apache-2.0
// What layers with a weight and a bias share: the first values of these, and whether they are
// trained.
#pragma once

#include "tutti/nn/layer.h"

namespace tutti::nn {

// The settings `bias`, `init`, `trainable` and `weight_norm`.
std::vector<Setting> weight_settings();

// Adds the weight called `name`, whose first dimension is that of the outputs. With weight_norm
// (B20) it is magnitude · v / |v|, computed from two parameters, NAME_v and NAME_magnitude; each
// output has its own |v| and magnitude.
ValueId add_weight(Net& net, const Settings& settings, Shape shape, std::int64_t fan_in,
                   std::int64_t fan_out, const std::string& name = "weight");

// y + "bias" along dimension 1, or y itself when settings have bias = false.
ValueId add_bias(Net& net, const Settings& settings, ValueId y, std::int64_t fan_in);

}  // namespace tutti::nn
