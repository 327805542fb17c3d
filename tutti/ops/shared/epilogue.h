// SPDX-License-Identifier: Apache-2.0
// What the fuse pass may hang behind a product or a convolution: y = activation(product + bias +
// residual), with the bias as input 2 and the residual as input 3. Fused nodes appear after
// autodiff and have no gradient of their own.
#pragma once

#include "tutti/graph/op.h"
#include "tutti/ops/shared/activation.h"
#include "tutti/ops/shared/traffic.h"

#include <string>
#include <vector>

namespace tutti::ops {

constexpr std::size_t bias_input = 2, residual_input = 3;

// Input `k` of a node; no_value where it has none.
inline ValueId epilogue_input(const Node& node, std::size_t k) {
  return k < node.inputs.size() ? node.inputs[k] : no_value;
}

// Whether the node adds a bias or a residual or applies an activation.
bool has_epilogue(const Settings& settings, const std::vector<Type>& in);

// Throws unless there are 2 to 4 inputs, bias is [channels] and residual is like y.
void check_epilogue(const char* name, const std::vector<Type>& in, const Type& y,
                    std::int64_t channels);

// `cost` with one operation per element and one level of depth for each of bias, residual and
// activation.
Cost add_epilogue(Cost cost, const Settings& settings, const std::vector<Type>& in, const Type& y);

// Index notation of bias and residual, as far as they are given: " bias[o] residual[n,o,h,w]".
std::string epilogue_indices(const std::vector<Type>& in, const std::string& channel,
                             const std::string& y);

// Writes y from the product. `inner` consecutive elements belong to the same one of `channels`
// channels.
template <class T>
void apply_epilogue(const Call& call, const std::vector<T>& product, std::int64_t channels,
                    std::int64_t inner) {
  const auto given = [&](std::size_t i) -> const T* {
    return i < call.in.size() ? call.in[i].as<T>() : nullptr;
  };
  const T* bias = given(bias_input);
  const T* residual = given(residual_input);
  const Activation activation = activation_of(call.settings);
  const T slope = static_cast<T>(call.settings.real("slope"));
  T* y = call.out[0].as<T>();
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) {
    T sum = product[static_cast<std::size_t>(i)];
    if (bias != nullptr) sum += bias[i / inner % channels];
    if (residual != nullptr) sum += residual[i];
    y[i] = activate(activation, sum, slope);
  }
}

}  // namespace tutti::ops
