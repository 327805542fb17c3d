// SPDX-License-Identifier: Apache-2.0
// Deep stacking network (Deng, Yu 2011; C16): every module predicts the targets, from the input and
// the outputs of all modules before it, by one layer of sigmoid units. The contribution of the
// input to the units is a layer of its own, so that it can be computed for all modules at once.
// `tutti stack` finds the output weights in closed form, `tutti train` trains all by gradients.
#include "tutti/nn/models/dsn.h"

#include "tutti/nn/models/blocks.h"
#include "tutti/ops/add.h"

namespace tutti::nn {
namespace {

std::string name_of(std::int64_t module, const char* layer) {
  return fmt::format("module{}.{}", module, layer);
}

// σ(W x + V [y_1 … y_{k−1}]) of module k.
ValueId hidden_units(Net& net, ValueId x, const std::vector<ValueId>& outputs, std::int64_t units) {
  const auto module = static_cast<std::int64_t>(outputs.size()) + 1;
  ValueId sum = net.apply(linear, x, {{"name", name_of(module, "input")}, {"units", units}});
  if (module > 1) {
    const ValueId seen =
        module == 2 ? outputs[0] : concatenated(net, outputs, name_of(module, "outputs"));
    const ValueId more = net.apply(
        linear, seen, {{"name", name_of(module, "previous")}, {"units", units}, {"bias", false}});
    sum = net.layer(name_of(module, "sum"), "add", [&] {
      return net.graph.add1(ops::add, {sum, more});
    });
  }
  return net.apply(sigmoid, sum);
}

// The network up to the hidden units of its last module, or up to the output of that module.
ValueId stacked(Net& net, ValueId x, const Settings& settings, std::int64_t outputs,
                bool up_to_hidden) {
  x = net.apply(flatten, x);
  const std::int64_t modules = settings.integer("modules");
  std::vector<ValueId> said;
  for (std::int64_t module = 1; module <= modules; ++module) {
    const ValueId hidden = hidden_units(net, x, said, settings.integer("hidden"));
    if (module == modules && up_to_hidden) return hidden;
    said.push_back(net.apply(
        linear, hidden, {{"name", dsn_output_name(module)}, {"units", outputs}, {"bias", false}}));
  }
  return said.back();
}

std::vector<Setting> settings() {
  return {{.name = "modules",
           .initial = std::int64_t{4},
           .doc = "predictors on top of each other",
           .min = 1,
           .max = 1000},
          {.name = "hidden",
           .initial = std::int64_t{256},
           .doc = "sigmoid units of each module",
           .min = 1,
           .max = 1e6}};
}

}  // namespace

std::string dsn_output_name(std::int64_t module) { return name_of(module, "output"); }

const Model dsn{.name = "dsn",
                .doc =
                    "deep stacking network: modules that see the input and what the modules "
                    "before them say",
                .settings = settings(),
                .build = [](Net& net, ValueId x, const Settings& given) {
                  return in_output_shape(net,
                                         stacked(net, x, given, elements(net.output_shape), false));
                }};

const Model dsn_hidden{
    .name = "dsn_hidden",
    .doc = "the hidden units of the last module of a deep stacking network",
    .settings =
        [] {
          std::vector<Setting> all = settings();
          all.push_back(
              {.name = "outputs", .initial = std::int64_t{1}, .doc = "of each module", .min = 1});
          return all;
        }(),
    .build =
        [](Net& net, ValueId x, const Settings& given) {
          return stacked(net, x, given, given.integer("outputs"), true);
        }};

}  // namespace tutti::nn
