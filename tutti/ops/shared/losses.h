// SPDX-License-Identifier: Apache-2.0
// What losses and metrics share: each is Σ_n weights[n] · (a number of sample n). Losses of
// regression compare prediction[n, …] with target[n, …]; for classification see labels.h.
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
// The type of the gradient of a loss by in[0]; checks that in[3], the gradient of the loss, is a
// scalar.
std::vector<Type> loss_gradient_type(const std::vector<Type>& in);
// The cases of a loss as cases of its gradient, whose last input is the gradient of the loss.
std::vector<OpCase> with_dloss(std::vector<OpCase> cases);

// Throws Error("[name] …") unless the first three types are those of prediction (float [n, …]),
// target (the same) and weights (float [n]).
void check_regression(const char* name, const std::vector<Type>& in);
// Elements of one sample.
std::int64_t features_of(const Shape& shape);
// The cost of `operations` operations per element, `depth` deep, and of a sum over all elements
// where the output is a scalar.
Cost regression_cost(double operations, double depth, const std::vector<Type>& in,
                     const std::vector<Type>& out);
// The sharding rule `rule` in which {0} is replaced by "n,*,*": only samples may be split, since
// the mean over features must know the number of features.
std::string regression_sharding(const std::vector<Type>& in, const char* rule);
// A case for each shape: prediction, target and weights.
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
