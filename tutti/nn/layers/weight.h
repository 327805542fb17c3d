// SPDX-License-Identifier: Apache-2.0
// What layers with a weight and a bias share: how these begin, and whether they learn.
#pragma once

#include "tutti/nn/layer.h"

namespace tutti::nn {

// `bias`, `init`, `trainable`.
std::vector<Setting> weight_settings();

// The parameter "weight". Its first dimension is that of the outputs.
ValueId add_weight(Net& net, const Settings& settings, Shape shape, std::int64_t fan_in,
                   std::int64_t fan_out);

// y + "bias" along dimension 1, or y itself when settings have bias = false.
ValueId add_bias(Net& net, const Settings& settings, ValueId y, std::int64_t fan_in);

}  // namespace tutti::nn
