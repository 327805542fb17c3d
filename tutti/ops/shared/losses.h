// SPDX-License-Identifier: Apache-2.0
// What losses and metrics share: each is Σ_n weights[n] · (something of sample n). Those of
// regression compare prediction[n, …] with target[n, …]; for those of classification see labels.h.
#pragma once

#include "tutti/graph/op.h"

#include <string>
#include <vector>

namespace tutti::ops {

// Why no gradient reaches the weights.
inline constexpr const char* weights_are_data =
    "sample weights are data: no gradient flows to them";

// The type of a loss of in[0]: a scalar.
std::vector<Type> loss_type(const std::vector<Type>& in);
// The type of its gradient in in[0]; checks that in[3], the gradient of the loss, is a scalar.
std::vector<Type> loss_gradient_type(const std::vector<Type>& in);
// Cases of a loss made cases of its gradient, which has the gradient of the loss as last input.
std::vector<OpCase> with_dloss(std::vector<OpCase> cases);

// Throws Error("[name] …") unless the first three types are float [n, …], the same, float [n].
void check_regression(const char* name, const std::vector<Type>& in);
// Elements of one sample.
std::int64_t features_of(const Shape& shape);
// So many operations per element, of this depth and, where the output is a scalar, a sum over all.
Cost regression_cost(double operations, double depth, const std::vector<Type>& in,
                     const std::vector<Type>& out);
// `rule` with {0} filled in as "n,*,*": only samples may be split, since the mean over features
// must know how many there are.
std::string regression_sharding(const std::vector<Type>& in, const char* rule);
// Prediction, target and weights at each of these shapes.
std::vector<OpCase> regression_cases(const std::vector<Shape>& shapes, const Settings& settings);

// The mean over features of Σ_i term(weight of i's sample, prediction[i] − target[i], i), in
// double.
template <class Term>
void reference_regression(const Call& call, Term&& term) {
  const std::int64_t features = features_of(call.in[0].shape);
  dispatch_float(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *p = call.in[0].as<T>(), *t = call.in[1].as<T>(), *weights = call.in[2].as<T>();
    double sum = 0;
    for (std::int64_t i = 0; i < call.in[0].count(); ++i)
      sum += term(static_cast<double>(weights[i / features]),
                  static_cast<double>(p[i]) - static_cast<double>(t[i]), i);
    *call.out[0].as<T>() = static_cast<T>(sum / static_cast<double>(features));
  });
}

}  // namespace tutti::ops
