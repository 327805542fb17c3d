// SPDX-License-Identifier: Apache-2.0
// Labels as unit vectors; with label smoothing a part of the 1 is spread evenly over all classes.
#include "tutti/ops/one_hot.h"

#include "tutti/ops/shared/axis.h"
#include "tutti/ops/shared/labels.h"

#include <algorithm>

namespace tutti::ops {
namespace {

std::vector<Type> infer(const Settings& settings, const std::vector<Type>& in) {
  if (in[0].dtype != DType::i32 || in[0].shape.size() != 1)
    throw Error("[one_hot] labels are {} {}, expected a vector of i32", name_of(in[0].dtype),
                to_string(in[0].shape));
  return {{dtype_named(settings.text("dtype")), {in[0].shape[0], settings.integer("classes")}}};
}

void reference(const Call& call) {
  const std::int64_t samples = call.out[0].shape[0], classes = call.out[0].shape[1];
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    T* y = call.out[0].as<T>();
    const double smoothing = call.settings.real("smoothing");
    const double spread = smoothing / static_cast<double>(classes);
    std::fill_n(y, samples * classes, static_cast<T>(spread));
    for (std::int64_t n = 0; n < samples; ++n)
      y[n * classes + label_at("one_hot", call.in[0], n, classes)] =
          static_cast<T>(1 - smoothing + spread);
  });
}

}  // namespace

const Op one_hot{
    .name = "one_hot",
    .doc = "y[n, labels[n]] = 1, else 0; with smoothing s: 1 - s, plus s / classes everywhere",
    .settings = {{.name = "classes",
                  .initial = std::int64_t{0},
                  .doc = "number of classes",
                  .min = 1,
                  .required = true},
                 {.name = "dtype",
                  .initial = std::string("f32"),
                  .doc = "element type",
                  .choices = {"f32", "f64"}},
                 {.name = "smoothing",
                  .initial = 0.0,
                  .doc = "part of the one that all classes share",
                  .min = 0,
                  .max = 1}},
    .infer = infer,
    .gradient = [](Graph&, const Node&,
                   const std::vector<ValueId>&) { return std::vector<ValueId>{no_value}; },
    .cost = cost_movement,
    .sharding = [](const Settings&,
                   const std::vector<Type>&) { return std::string("label[n] -> y[n,*]"); },
    .reference = reference,
    .cases =
        [] {
          return std::vector<OpCase>{
              {{{"classes", std::int64_t{3}}, {"dtype", std::string("f64")}}, {{DType::i32, {6}}}},
              {{{"classes", std::int64_t{3}}, {"dtype", std::string("f64")}, {"smoothing", 0.1}},
               {{DType::i32, {6}}}}};
        },
};

}  // namespace tutti::ops
