// SPDX-License-Identifier: Apache-2.0
// What point-wise operators share: one output shaped like the inputs, one operation per element.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// The type that all inputs must have, as the type of the output.
std::vector<Type> infer_pointwise(const char* name, const std::vector<Type>& in);

// One operation for each element, depth 1.
Cost cost_pointwise(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out);

// "x0[a,b,c] x1[a,b,c] -> y[a,b,c]".
std::string sharding_pointwise(const Settings&, const std::vector<Type>& in);

// Cases for an operator of `arity` inputs: a vector, a matrix, an image.
std::vector<OpCase> cases_pointwise(int arity, const Settings& settings = {});

// y[i] = function(x0[i], x1[i] …) in plain loops.
template <class Function>
void map_elements(const Call& call, Function&& function) {
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    T* y = call.out[0].as<T>();
    const std::int64_t count = call.out[0].count();
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_invocable_v<Function, T, T>)
        y[i] = static_cast<T>(function(call.in[0].as<T>()[i], call.in[1].as<T>()[i]));
      else
        y[i] = static_cast<T>(function(call.in[0].as<T>()[i]));
    }
  });
}

}  // namespace tutti::ops
