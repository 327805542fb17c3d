// SPDX-License-Identifier: Apache-2.0
// The contract of passes: on every model, a step with a pass and without it gives the same loss,
// gradient and weights, and each pass leaves a graph that verifies.
#include "tutti/graph/verify.h"
#include "tutti/kernels/backends.h"
#include "tutti/nn/layer.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/pass.h"

#include "exec/training.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace tutti::contract {
namespace {

struct PassedModel {
  std::string name;
  Shape sample;
  std::function<Net(const NetInput&)> build;
};

Net small_network(const NetInput& input) {
  // What the models lack: average pooling, groups, dropout, other activations.
  const std::vector<Settings> tables = {
      {{"type", "convolution"}, {"channels", 8}, {"kernel", 3}, {"padding", 1}},
      {{"type", "tanh"}},
      {{"type", "average_pool"}, {"kernel", 2}},
      {{"type", "convolution"}, {"channels", 16}, {"kernel", 3}, {"groups", 2}},
      {{"type", "gelu"}},
      {{"type", "dropout"}, {"rate", 0.25}},
      {{"type", "max_pool"}, {"kernel", 2}},
      {{"type", "flatten"}},
      {{"type", "linear"}, {"units", 12}},
      {{"type", "sigmoid"}},
      {{"type", "linear"}, {"units", 10}},
  };
  return build_net(layers(), tables, input);
}

std::vector<PassedModel> passed_models() {
  std::vector<PassedModel> all;
  for (const auto& [name, side] :
       {std::pair<std::string, std::int64_t>{"mlp", 12}, {"lenet", 28}, {"lenet5", 32}})
    all.push_back({name, {1, side, side}, [model = models().find(name)](const NetInput& input) {
                     return build_net(model, {}, input);
                   }});
  all.push_back({"small", {3, 12, 12}, small_network});
  return all;
}

struct Trained {
  double loss = 0;
  std::vector<float> gradient, parameters;
};

Trained train(const PassedModel& model, const std::string& backend,
              const std::set<std::string>& without) {
  test::Training training({.sample = model.sample,
                           .batch = 6,
                           .backend = backend,
                           .without = without,
                           .build = model.build});
  Trained result;
  for (int k = 0; k < 2; ++k) result.loss = training.step().loss;
  result.gradient = training.gradient();
  result.parameters = training.parameters();
  return result;
}

// The same for every pass that is left out.
const Trained& with_all_passes(const PassedModel& model, const std::string& backend) {
  static std::map<std::pair<std::string, std::string>, Trained> done;
  const auto [found, fresh] = done.try_emplace({model.name, backend});
  if (fresh) found->second = train(model, backend, {});
  return found->second;
}

class PassContract : public testing::TestWithParam<std::string> {};

// Fused kernels and other layouts round differently; on the reference everything is the same loop,
// so only the order of bias and residual may differ.
TEST_P(PassContract, B38ResultsAreEqualWithoutIt) {
  for (const PassedModel& model : passed_models())
    for (const auto& [backend, tolerance] : {std::pair("cpu", 1e-5), {"reference", 1e-6}}) {
      const Trained& with = with_all_passes(model, backend);
      const Trained without = train(model, backend, {GetParam()});
      EXPECT_NEAR(with.loss, without.loss, tolerance * std::abs(without.loss))
          << model.name << " on " << backend;
      EXPECT_LE(test::relative_difference(with.gradient, without.gradient), tolerance)
          << model.name << " on " << backend;
      EXPECT_LE(test::relative_difference(with.parameters, without.parameters), tolerance)
          << model.name << " on " << backend;
    }
}

TEST_P(PassContract, LeavesAGraphThatVerifies) {
  const List<Pass> all = passes();
  const Pass& pass = all.find(GetParam());
  EXPECT_FALSE(pass.doc.empty());
  const KernelTable kernels = cpu_kernels();
  const Backend backend = backend_of(kernels);
  for (const PassedModel& model : passed_models()) {
    Net net = model.build({.fields = input_and_labels(model.sample), .classes = 10, .batch = 4});
    differentiate(net.graph, net.loss, net.table, net.parameters);
    PassContext context{.backend = backend};
    pass.run(net.graph, context);
    EXPECT_NO_THROW(verify(net.graph, pass.name)) << model.name;
    const std::size_t nodes = net.graph.nodes.size();
    if (pass.name == "memory") continue;
    pass.run(net.graph, context);  // there is nothing left to do
    EXPECT_EQ(net.graph.nodes.size(), nodes) << model.name << ": a second run changes the graph";
  }
}

INSTANTIATE_TEST_SUITE_P(List, PassContract, testing::ValuesIn(passes().names()),
                         [](const auto& tested) { return tested.param; });

TEST(PassList, AllMayBeLeftOut) {
  std::set<std::string> every;
  for (const Pass& pass : passes()) every.insert(pass.name);
  for (const PassedModel& model : passed_models()) {
    const Trained& with = with_all_passes(model, "cpu");
    const Trained without = train(model, "cpu", every);
    EXPECT_LE(test::relative_difference(with.gradient, without.gradient), 1e-5) << model.name;
  }
}

}  // namespace
}  // namespace tutti::contract
