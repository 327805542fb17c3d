// SPDX-License-Identifier: Apache-2.0
// Softmax and cross-entropy in one operator (A01): loss = Σ_n weights[n] · -log
// softmax(z_n)[label_n], computed as log Σ exp(z - max z) + max z - z_label so that large logits
// stay finite. With p the softmax and h the unit vector of the label, the gradient is p - h, and
// its derivative along v is p v - p (p · v), which is softmax_grad. With label smoothing s
// (Szegedy et al. 2016) h becomes (1 - s) h + s / classes. The mean over a batch has weights 1 / n.
// Weights are data: no gradient flows to them.
#include "tutti/ops/cross_entropy.h"

#include "tutti/ops/add.h"
#include "tutti/ops/one_hot.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/shared/labels.h"
#include "tutti/ops/shared/losses.h"
#include "tutti/ops/shared/traffic.h"
#include "tutti/ops/softmax.h"
#include "tutti/ops/weigh.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tutti::ops {
namespace {

const std::vector<Setting> smoothing_setting{
    {.name = "smoothing",
     .initial = 0.0,
     .doc = "part of each target that is spread evenly over all classes",
     .min = 0,
     .max = 1}};

Cost cost(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  const Shape& logits = in[0].shape;
  const int over_samples = out[0].shape.empty() ? log2_ceiling(logits[0]) : 0;
  return with_traffic({.work = 4.0 * static_cast<double>(elements(logits)),
                       .depth = 2.0 * log2_ceiling(logits[1]) + 2 + over_samples},
                      in, out);
}

// log Σ exp(z).
template <class T>
double log_sum_exp(const T* z, std::int64_t classes) {
  const double largest = static_cast<double>(*std::max_element(z, z + classes));
  double sum = 0;
  for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(z[c]) - largest);
  return largest + std::log(sum);
}

void reference(const Call& call) {
  const std::int64_t samples = call.in[0].shape[0], classes = call.in[0].shape[1];
  const double smoothing = call.settings.real("smoothing");
  dispatch_float(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    double loss = 0;
    for (std::int64_t n = 0; n < samples; ++n) {
      const T* z = call.in[0].as<T>() + n * classes;
      const std::int64_t label = label_at("softmax_cross_entropy", call.in[1], n, classes);
      const double mean = std::accumulate(z, z + classes, 0.0) / static_cast<double>(classes);
      const double target = (1 - smoothing) * static_cast<double>(z[label]) + smoothing * mean;
      loss += static_cast<double>(call.in[2].as<T>()[n]) * (log_sum_exp(z, classes) - target);
    }
    *call.out[0].as<T>() = static_cast<T>(loss);
  });
}

void reference_grad(const Call& call) {
  const std::int64_t samples = call.in[0].shape[0], classes = call.in[0].shape[1];
  const double smoothing = call.settings.real("smoothing");
  const double spread = smoothing / static_cast<double>(classes);
  dispatch_float(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t n = 0; n < samples; ++n) {
      const T* z = call.in[0].as<T>() + n * classes;
      T* dz = call.out[0].as<T>() + n * classes;
      const std::int64_t label = label_at("softmax_cross_entropy_grad", call.in[1], n, classes);
      const double factor = static_cast<double>(*call.in[3].as<T>() * call.in[2].as<T>()[n]);
      const double shift = log_sum_exp(z, classes);
      for (std::int64_t c = 0; c < classes; ++c)
        dz[c] = static_cast<T>(factor * (std::exp(static_cast<double>(z[c]) - shift) - spread -
                                         (c == label ? 1 - smoothing : 0)));
    }
  });
}

std::vector<ValueId> gradient_of_grad(Graph& graph, const Node& node,
                                      const std::vector<ValueId>& v) {
  const ValueId logits = node.inputs[0], labels = node.inputs[1], weights = node.inputs[2],
                dloss = node.inputs[3];
  const Type type = graph.type(logits);
  const double smoothing = node.settings.real("smoothing");
  const ValueId p = graph.add1(softmax, {logits});
  const ValueId in_logits =
      graph.add1(weigh, {graph.add1(softmax_grad, {v[0], p}), weights, dloss});
  const ValueId h = graph.add1(one_hot, {labels},
                               {{"classes", type.shape[1]},
                                {"dtype", std::string(name_of(type.dtype))},
                                {"smoothing", smoothing}});
  const ValueId difference = graph.add1(add, {p, negated(graph, h)});
  return {in_logits, no_value, no_value, graph.add1(weighted_dot, {v[0], difference, weights})};
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const auto& [classes, smoothing] : {std::pair{2, 0.0}, {5, 0.0}, {5, 0.1}})
    all.push_back({.settings = {{"smoothing", smoothing}},
                   .in = {{DType::f64, {6, classes}}, {DType::i32, {6}}, {DType::f64, {6}}},
                   .classes = classes});
  return all;
}

}  // namespace

const Op softmax_cross_entropy{
    .name = "softmax_cross_entropy",
    .doc = "loss = Σ weights[n] · -log softmax(logits[n])[labels[n]]",
    .settings = smoothing_setting,
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_labelled("softmax_cross_entropy", in);
          return loss_type(in);
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          const ValueId dlogits =
              graph.add1(softmax_cross_entropy_grad,
                         {node.inputs[0], node.inputs[1], node.inputs[2], dy[0]}, node.settings);
          return std::vector<ValueId>{dlogits, no_value, no_value};
        },
    .undifferentiable = weights_are_data,
    .cost = cost,
    .sharding =
        [](const Settings&, const std::vector<Type>&) {
          return std::string("z[n,*] label[n] weight[n] -> loss[]");
        },
    .reference = reference,
    .cases = cases,
};

const Op softmax_cross_entropy_grad{
    .name = "softmax_cross_entropy_grad",
    .doc = "dlogits[n] = dloss · weights[n] · (softmax(logits[n]) - unit vector of labels[n])",
    .settings = smoothing_setting,
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_labelled("softmax_cross_entropy_grad", in);
          return loss_gradient_type(in);
        },
    .gradient = gradient_of_grad,
    .undifferentiable = weights_are_data,
    .cost = cost,
    .sharding =
        [](const Settings&, const std::vector<Type>&) {
          return std::string("z[n,*] label[n] weight[n] dloss[] -> dz[n,*]");
        },
    .reference = reference_grad,
    .cases = [] { return with_dloss(cases()); },
    .in_place = {{0, 0}},
};

}  // namespace tutti::ops
