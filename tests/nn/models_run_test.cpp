// SPDX-License-Identifier: Apache-2.0
// Every family of models at its smallest: two steps on the CPU back end, and its loss against the
// plain references.
#include "tutti/core/rng.h"
#include "tutti/graph/verify.h"
#include "tutti/train/replica.h"

#include "nn/run_net.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

namespace tutti {
namespace {

constexpr std::int64_t batch = 2, classes = 3;

// Narrow linear layers, and no dropout: masks are drawn by step and node.
Settings small_settings(const Model& model) {
  Settings settings;
  for (const Setting& setting : model.settings) {
    if (setting.name == "dropout") settings.set("dropout", 0.0);
    if (setting.name == "units") settings.set("units", std::int64_t{32});
  }
  return settings;
}

NetInput input_of(const Model& model, std::int64_t extent) {
  const std::int64_t channels = model.name.starts_with("lenet") ? 1 : 3;
  return {
      .fields = input_and_labels({channels, extent, extent}), .classes = classes, .batch = batch};
}

std::int64_t smallest_extent(const Model& model) {
  std::int64_t extent = model.name == "lenet5" ? 28 : 4;
  const auto fits = [&] {
    return test::error_of([&] { build_net(model, {}, input_of(model, extent)); }).empty();
  };
  while (!fits()) ++extent;
  return extent;
}

// Uniform with the variance of 'he': cheaper to draw, and the largest networks have 20 million.
std::vector<float> weights_of(const Net& net) {
  std::vector<float> w(static_cast<std::size_t>(net.table.count()));
  for (const Range& range : net.table.ranges) {
    const bool scale = range.shape.size() == 1 && range.name.ends_with("weight");
    const auto fan_in = static_cast<double>(range.count / range.shape[0]);
    const double bound = range.shape.size() > 1 ? std::sqrt(6 / fan_in) : 0;
    for (std::int64_t i = range.offset; i < range.offset + range.count; ++i)
      w[static_cast<std::size_t>(i)] = static_cast<float>(
          scale ? 1 : bound * (2 * uniform(1, static_cast<std::uint64_t>(i)) - 1));
  }
  return w;
}

contract::Array array_at(const Value& value, const float* vector) {
  contract::Array array(value.type);
  const auto bytes = static_cast<std::size_t>(value.bytes());
  std::memcpy(array.memory.data(), vector + value.place.offset_bytes / 4, bytes);
  return array;
}

// A model, its weights and one batch, for a replica and for the references.
struct Trial {
  Trial(const char* name, std::int64_t extent)
      : Trial(std::make_shared<Model>(models().find(name)), extent) {}
  Trial(const std::shared_ptr<Model>& of, std::int64_t extent)
      : model(of), input(input_of(*of, extent)), w(weights_of(net(true))) {
    const Net first = net(true);
    s.resize(static_cast<std::size_t>(first.state_table.count()));
    initialise_state(first, s.data());
    for (const ValueId id : first.graph.batch)
      samples.push_back(contract::random_array(first.graph.type(id), 100 + id));
    for (std::int64_t i = 0; i < batch; ++i) samples[2].set(i, 1.0 / batch);
  }

  Net net(bool training) const {
    NetInput asked = input;
    asked.training = training;
    return build_net(*model, small_settings(*model), asked);
  }

  // By the references: in training, or with the statistics that a network begins with.
  double expected_loss(bool training) const {
    const Net asked = net(training);
    contract::Values values;
    for (std::size_t id = 0; id < asked.graph.values.size(); ++id) {
      const Value& value = asked.graph.values[id];
      if (value.producer != no_node) continue;
      if (value.place.base == Base::weights)
        values.insert_or_assign(static_cast<ValueId>(id), array_at(value, w.data()));
      if (value.place.base == Base::layer_state)
        values.insert_or_assign(static_cast<ValueId>(id), array_at(value, s.data()));
    }
    for (std::size_t k = 0; k < samples.size(); ++k)
      values.insert_or_assign(asked.graph.batch[k], samples[k]);
    return contract::evaluate(asked.graph, std::move(values)).at(asked.loss).get(0);
  }

  std::unique_ptr<Replica> replica() const {
    const Rule& momentum = all_rules.find("momentum");
    ReplicaOptions options;
    options.build = [this](const NetInput& asked) {
      return build_net(*model, small_settings(*model), asked);
    };
    options.input = input;
    options.closing.update.rule = &momentum;
    options.closing.update.rule_settings = resolve(momentum.settings, {}, "momentum");
    auto made = std::make_unique<Replica>(options);
    const auto copy_in = [&](void* to, const std::vector<float>& from) {
      made->device().copy_in(to, from.data(), static_cast<std::int64_t>(4 * from.size()));
    };
    copy_in(made->weights(), w);
    copy_in(made->layer_state(), s);
    return made;
  }

  BatchPointers pointers() {
    return {batch,
            batch,
            {samples[0].tensor().data, samples[1].tensor().data, samples[2].tensor().data}};
  }

  List<Rule> all_rules = rules();
  std::shared_ptr<Model> model;
  NetInput input;
  std::vector<float> w, s;  // parameters and layer state
  std::vector<contract::Array> samples;
};

constexpr StepState step{.key = 1, .rate = 1e-4};

// All but deeper siblings of another model, which have the same blocks and more of them.
std::vector<std::string> names() {
  const std::set<std::string> siblings = {"resnet32",    "resnet44",          "resnet56",
                                          "resnet110",   "resnet34",          "resnet101",
                                          "resnet152",   "densenet169",       "densenet201",
                                          "densenet264", "densenet_bc250_24", "densenet_bc190_40"};
  std::vector<std::string> all = models().names();
  std::erase_if(
      // token_mlp does not take images: see train/tokens_test.cpp.
      all, [&](const std::string& name) {
        return name == "layers" || name == "token_mlp" || siblings.contains(name);
      });
  return all;
}

class Family : public testing::TestWithParam<std::string> {};

TEST_P(Family, TwoStepsAndTheLossOfTheReferences) {
  Trial trial(GetParam().c_str(), smallest_extent(models().find(GetParam())));
  verify(trial.net(true).graph, GetParam());
  const auto replica = trial.replica();
  const double expected = trial.expected_loss(false);
  // Float sums in another order.
  EXPECT_NEAR(replica->evaluate(trial.pointers()).loss, expected, 1e-4 * expected);
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(std::isfinite(replica->step(trial.pointers(), step).loss));
}

INSTANTIATE_TEST_SUITE_P(Models, Family, testing::ValuesIn(names()),
                         [](const auto& model) { return model.param; });

// The same in training for those with batch norm, at a size that leaves it 8 values per channel at
// least: over 2 it amplifies rounding to some per cent of the loss, in the references too.
TEST(Models, FirstLossOfNetworksWithBatchNorm) {
  for (const auto& [name, extent] : std::vector<std::pair<const char*, std::int64_t>>{
           {"resnet20", 8}, {"mobilenet", 64}, {"densenet_bc100_12", 8}}) {
    Trial trial(name, extent);
    const double expected = trial.expected_loss(true);
    const auto replica = trial.replica();
    EXPECT_NEAR(replica->step(trial.pointers(), step).loss, expected, 1e-4 * expected) << name;
  }
}

}  // namespace
}  // namespace tutti
