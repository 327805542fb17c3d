// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/guard.h"

#include "tutti/ops/shared/block.h"
#include "tutti/ops/shared/doubles.h"
#include "tutti/ops/shared/traffic.h"

#include <cmath>

namespace tutti::ops {
namespace {

std::vector<Type> infer_guard(const Settings&, const std::vector<Type>& in) {
  const Type word{DType::i64, {}};
  check(in.size() >= 2, "guard has something to look at, and the word");
  for (std::size_t k = 0; k + 1 < in.size(); ++k)
    if (!is_float(in[k].dtype))
      throw Error("[guard] input {} is {}, expected f32 or f64", k, name_of(in[k].dtype));
  if (!(in.back() == word))
    throw Error("[guard] the word is {} {}, expected a scalar i64", name_of(in.back().dtype),
                to_string(in.back().shape));
  return {word};
}

Cost cost_guard(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  std::int64_t count = 0;
  for (std::size_t k = 0; k + 1 < in.size(); ++k) count += elements(in[k].shape);
  return with_traffic({.work = static_cast<double>(count), .depth = 1.0 + log2_ceiling(count)}, in,
                      out);
}

void reference_guard(const Call& call) {
  std::int64_t word = *call.in.back().as<const std::int64_t>();
  for (std::size_t k = 0; k + 1 < call.in.size(); ++k) {
    const Doubles x(call.in[k]);
    for (std::int64_t i = 0; i < call.in[k].count(); ++i)
      if (word == 0 && !std::isfinite(x[i])) word = 1 + call.step.step;
  }
  *call.out[0].as<std::int64_t>() = word;
}

}  // namespace

const Op guard{
    .name = "guard",
    .doc =
        "1 + the number of the first step in which a value was not finite, 0 before; updates "
        "read it and do nothing then",
    .infer = infer_guard,
    .undifferentiable = placed_after_backward,
    .cost = cost_guard,
    .reference = reference_guard,
    .cases =
        [] {
          return std::vector<OpCase>{{{}, {{DType::f64, {}}, {DType::i64, {}}}},
                                     {{}, {{DType::f64, {}}, {DType::f64, {5}}, {DType::i64, {}}}}};
        },
};

}  // namespace tutti::ops
