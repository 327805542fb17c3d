// SPDX-License-Identifier: Apache-2.0
// A mask that is 1 for the tokens that a sample has and 0 for padding; for a mean over tokens it is
// 1 / length and 0.
#include "tutti/ops/length_mask.h"

#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {
namespace {

std::vector<Type> infer(const Settings& settings, const std::vector<Type>& in) {
  if (in.at(0).dtype != DType::i32 || in[0].shape.size() != 1)
    throw Error("[length_mask] lengths are {} {}, expected i32, one for each sample",
                name_of(in[0].dtype), to_string(in[0].shape));
  return {{dtype_named(settings.text("dtype")), {in[0].shape[0], settings.integer("tokens")}}};
}

void reference(const Call& call) {
  const std::int64_t samples = call.out[0].shape[0], tokens = call.out[0].shape[1];
  const auto* lengths = call.in[0].as<std::int32_t>();
  const bool mean = call.settings.flag("mean");
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    T* mask = call.out[0].as<T>();
    for (std::int64_t n = 0; n < samples; ++n) {
      if (lengths[n] < 0 || lengths[n] > tokens)
        throw Error("[length_mask] sample {} has {} tokens, expected 0 to {}", n, lengths[n],
                    tokens);
      const T there = mean ? T{1} / static_cast<T>(lengths[n]) : T{1};
      for (std::int64_t t = 0; t < tokens; ++t) *mask++ = t < lengths[n] ? there : T{0};
    }
  });
}

}  // namespace

const Op length_mask{
    .name = "length_mask",
    .doc = "mask[n,t] = 1 for t < lengths[n], else 0; for a mean 1 / lengths[n] and 0",
    .settings = {{.name = "tokens",
                  .initial = std::int64_t{1},
                  .doc = "room for tokens in each sample",
                  .min = 1,
                  .required = true},
                 {.name = "mean",
                  .initial = false,
                  .doc = "the tokens of a sample share a sum of 1"},
                 {.name = "dtype",
                  .initial = std::string("f32"),
                  .doc = "element type of the mask",
                  .choices = {"f32", "f64"}}},
    .infer = infer,
    .gradient = [](Graph&, const Node&,
                   const std::vector<ValueId>&) { return std::vector<ValueId>{no_value}; },
    .undifferentiable = "lengths are integers",
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          return with_traffic({.work = static_cast<double>(elements(out[0].shape)), .depth = 1}, in,
                              out);
        },
    .sharding = [](const Settings&,
                   const std::vector<Type>&) { return std::string("lengths[n] -> mask[n,*]"); },
    .reference = reference,
    .cases =
        [] {
          std::vector<OpCase> all;
          for (const bool mean : {false, true})
            all.push_back({.settings = {{"tokens", std::int64_t{4}}, {"mean", mean}},
                           .in = {{DType::i32, {6}}},
                           .classes = 5});
          return all;
        },
};

}  // namespace tutti::ops
