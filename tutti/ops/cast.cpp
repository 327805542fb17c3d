// SPDX-License-Identifier: Apache-2.0
// The same numbers in another floating-point type, rounded to the nearest. Casts stand on both
// sides of a message that travels in bf16; no other operator computes in bf16.
#include "tutti/ops/cast.h"

#include "tutti/core/bf16.h"
#include "tutti/ops/shared/axis.h"

namespace tutti::ops {
namespace {

std::vector<Type> infer(const Settings& settings, const std::vector<Type>& in) {
  if (!is_float(in[0].dtype) && in[0].dtype != DType::bf16)
    throw Error("[cast] x is {}, expected f32, bf16 or f64", name_of(in[0].dtype));
  return {{dtype_named(settings.text("to")), in[0].shape}};
}

void reference(const Call& call) {
  dispatch_real(call.in[0].dtype, [&](auto from) {
    dispatch_real(call.out[0].dtype, [&](auto to) {
      const auto* x = call.in[0].as<decltype(from)>();
      auto* y = call.out[0].as<decltype(to)>();
      for (std::int64_t i = 0; i < call.in[0].count(); ++i) y[i] = static_cast<decltype(to)>(x[i]);
    });
  });
}

}  // namespace

const Op cast{
    .name = "cast",
    .doc = "x in another floating-point type",
    .settings = {{.name = "to",
                  .initial = std::string("f32"),
                  .doc = "element type",
                  .choices = {"f32", "bf16", "f64"},
                  .required = true}},
    .infer = infer,
    .undifferentiable = "cast is placed after the backward pass has been made",
    .cost = cost_movement,
    .reference = reference,
    .cases =
        [] {
          return std::vector<OpCase>{{{{"to", "bf16"}}, {{DType::f64, {37}}}},
                                     {{{"to", "bf16"}}, {{DType::f64, {70000}}}},
                                     {{{"to", "f32"}}, {{DType::bf16, {70000}}}},
                                     {{{"to", "f64"}}, {{DType::bf16, {3, 5}}}}};
        },
    .bf16 = true,
};

}  // namespace tutti::ops
