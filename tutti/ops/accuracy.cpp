// SPDX-License-Identifier: Apache-2.0
// The 0–1 score, as a metric: the weighted count of samples whose largest logit (the first of
// equals) is the logit of the label.
#include "tutti/ops/accuracy.h"

#include "tutti/ops/shared/labels.h"
#include "tutti/ops/shared/losses.h"
#include "tutti/ops/shared/traffic.h"

#include <algorithm>

namespace tutti::ops {
namespace {

Cost cost(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  const Shape& logits = in[0].shape;
  return with_traffic({.work = static_cast<double>(elements(logits)),
                       .depth = 1.0 + log2_ceiling(logits[1]) + log2_ceiling(logits[0])},
                      in, out);
}

void reference(const Call& call) {
  const std::int64_t samples = call.in[0].shape[0], classes = call.in[0].shape[1];
  dispatch_float(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    double right = 0;
    for (std::int64_t n = 0; n < samples; ++n) {
      const T* z = call.in[0].as<T>() + n * classes;
      const std::int64_t answer = std::max_element(z, z + classes) - z;
      if (answer == label_at("accuracy", call.in[1], n, classes))
        right += static_cast<double>(call.in[2].as<T>()[n]);
    }
    *call.out[0].as<T>() = static_cast<T>(right);
  });
}

}  // namespace

const Op accuracy{
    .name = "accuracy",
    .doc = "Σ weights[n] over the samples whose largest logit is that of the label",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_labelled("accuracy", in);
          return loss_type(in);
        },
    .undifferentiable = "a count is constant almost everywhere; train on softmax_cross_entropy",
    .cost = cost,
    .sharding =
        [](const Settings&, const std::vector<Type>&) {
          return std::string("z[n,*] label[n] weight[n] -> count[]");
        },
    .reference = reference,
    .cases =
        [] {
          return std::vector<OpCase>{
              {{}, {{DType::f64, {6, 3}}, {DType::i32, {6}}, {DType::f64, {6}}}, 3}};
        },
};

}  // namespace tutti::ops
