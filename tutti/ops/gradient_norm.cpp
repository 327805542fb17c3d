// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/gradient_norm.h"

#include "tutti/ops/shared/block.h"
#include "tutti/ops/shared/doubles.h"
#include "tutti/ops/shared/traffic.h"

#include <algorithm>
#include <cmath>

namespace tutti::ops {
namespace {

std::vector<Type> infer_norm(const Settings& settings, const std::vector<Type>& in) {
  if (!is_float(in[0].dtype) || !in[0].shape.empty())
    throw Error("[gradient_norm] the sum of squares is {} {}, expected a floating-point scalar",
                name_of(in[0].dtype), to_string(in[0].shape));
  return {{dtype_named(settings.text("dtype")), {}}};
}

void reference_norm(const Call& call) {
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    *call.out[0].as<decltype(zero)>() =
        static_cast<decltype(zero)>(std::sqrt(std::max(0.0, Doubles(call.in[0])[0])));
  });
}

}  // namespace

const Op gradient_norm{
    .name = "gradient_norm",
    .doc = "the Euclidean norm of the gradient from its sum of squares",
    .settings = {{.name = "dtype",
                  .initial = std::string("f32"),
                  .doc = "element type of the norm",
                  .choices = {"f32", "f64"}}},
    .infer = infer_norm,
    .undifferentiable = placed_after_backward,
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          return with_traffic({.work = 1, .depth = 1}, in, out);
        },
    .reference = reference_norm,
    .cases =
        [] {
          return std::vector<OpCase>{{{}, {{DType::f64, {}}}}};
        },
};

}  // namespace tutti::ops
