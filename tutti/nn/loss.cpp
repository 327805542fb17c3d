// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/loss.h"

#include "tutti/nn/net.h"
#include "tutti/ops/cross_entropy.h"
#include "tutti/ops/huber.h"
#include "tutti/ops/mean_squared_error.h"

namespace tutti {
namespace {

ValueId add(Net& net, const Op& op, const Settings& settings = {}) {
  return net.graph.add1(op, {net.output, net.labels, net.weights}, settings);
}

void check_classes(const Net& net, const char* loss) {
  if (net.classes == 0)
    throw Error("loss '{}' needs classes, but the data has targets: expected mse or huber", loss);
}

void check_targets(const Net& net, const char* loss) {
  if (net.classes > 0)
    throw Error("loss '{}' needs targets, but the data has {} classes: expected cross_entropy",
                loss, net.classes);
}

ValueId add_cross_entropy(Net& net, const Settings& settings) {
  check_classes(net, "cross_entropy");
  const double smoothing = net.training ? settings.real("smoothing") : 0.0;
  return add(net, ops::softmax_cross_entropy, {{"smoothing", smoothing}});
}

}  // namespace

List<Loss> losses() {
  const Setting smoothing{
      .name = "smoothing",
      .initial = 0.0,
      .doc = "part of each label spread over all classes in training, not in tests",
      .min = 0,
      .max = 1};
  const Loss automatic{.name = "auto",
                       .doc = "cross_entropy for classes, mse for targets",
                       .settings = {smoothing},
                       .add = [](Net& net, const Settings& settings) {
                         if (net.classes > 0) return add_cross_entropy(net, settings);
                         if (settings.real("smoothing") > 0) check_classes(net, "cross_entropy");
                         return add(net, ops::mean_squared_error);
                       }};
  const Loss cross_entropy{.name = "cross_entropy",
                           .doc = "-log of the softmax probability of the right class",
                           .settings = {smoothing},
                           .add = add_cross_entropy};
  const Loss mse{
      .name = "mse", .doc = "mean of (output - target)²", .add = [](Net& net, const Settings&) {
        check_targets(net, "mse");
        return add(net, ops::mean_squared_error);
      }};
  const Loss huber{.name = "huber",
                   .doc = "error² / 2 up to delta, a straight line beyond: outliers pull less",
                   .settings = {{.name = "delta",
                                 .initial = 1.0,
                                 .doc = "error at which the square becomes a line",
                                 .min = 1e-12}},
                   .add = [](Net& net, const Settings& settings) {
                     check_targets(net, "huber");
                     return add(net, ops::huber, {{"delta", settings.real("delta")}});
                   }};
  return {"loss", {automatic, cross_entropy, mse, huber}};
}

}  // namespace tutti
