// SPDX-License-Identifier: Apache-2.0
// State that streams carry from step to step: cut by stream over ranks, never averaged, in
// checkpoints, and taken up again on another number of ranks.
#include "tutti/data/sampler.h"
#include "tutti/nn/layer.h"
#include "tutti/ops/add.h"
#include "tutti/ops/tanh.h"

#include "expect_error.h"
#include "small_job.h"

namespace tutti {
namespace {

constexpr std::int64_t streams = 10, width = 6;

// Every stream adds up its inputs; what the network sees is the sum so far. A second state depends
// on the weights: tanh(W · input + state).
const Model summing{
    .name = "summing",
    .doc = "a running sum of each stream",
    .build =
        [](Net& net, ValueId x, const Settings&) {
          const ValueId mixed = net.apply(nn::linear, x, {{"units", width}, {"name", "mix"}});
          const ValueId features = net.layer("sums", "add", [&] {
            const ValueId sum = net.carried("sum", {width});
            const ValueId next = net.graph.add1(ops::add, {sum, x});
            net.carry_on(sum, next);
            const ValueId hidden = net.carried("hidden", {width});
            const ValueId then =
                net.graph.add1(ops::tanh, {net.graph.add1(ops::add, {hidden, mixed})});
            net.carry_on(hidden, then);
            return net.graph.add1(ops::add, {next, then});
          });
          return net.apply(nn::linear, features, {{"units", elements(net.output_shape)}});
        },
};

Job stream_job(const TemporaryFolder& folder, const std::vector<std::string>& changes = {}) {
  Recipe recipe = parse_recipe(small_recipe, "streams.toml");
  recipe.tables["model"] = {{"name", "summing"}};
  set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
  for (const char* change : {"train.record=none", "data.shape=[6]", "train.batch=10",
                             "train.steps=9", "train.order=sequential", "train.last_batch=drop"})
    set(recipe, change);
  for (const std::string& change : changes) set(recipe, change);
  Lists lists = default_lists();
  lists.models.add(summing);
  return make_job(recipe, lists);
}

struct State {
  explicit State(const TemporaryFolder& folder)
      : file(read_safetensors(folder.file("small.state"))) {}
  std::vector<double> of(const std::string& name) const {
    const Tensor* tensor = file.find("carried.sums." + name);
    EXPECT_NE(tensor, nullptr) << name;
    if (tensor == nullptr) return {};
    EXPECT_EQ(tensor->shape, (Shape{streams, width}));
    const auto* values = tensor->as<double>();
    return {values, values + streams * width};
  }
  SafetensorsFile file;
};

// Sample k·10 + i is what stream i reads in step k.
std::vector<double> sums_after(const Job& job, std::int64_t steps) {
  const auto data = open_data(job, data::Split::train);
  std::vector<double> sums(streams * width), x(sums.size());
  std::vector<std::int32_t> labels(streams);
  const data::Sampler sampler(
      {.count = data->count, .batch = streams, .order = data::Order::sequential});
  for (std::int64_t step = 0; step < steps; ++step) {
    data->read(sampler.indices(step), {.dtype = DType::f64, .fields = {x.data(), labels.data()}});
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += x[i];
  }
  return sums;
}

TEST(CarriedState, IsOfEachStreamOnAnyNumberOfRanks) {
  const TemporaryFolder one;
  const Job job = stream_job(one);
  train(job, {});
  EXPECT_EQ(State(one).of("sum"), sums_after(job, 9));
  for (const char* ranks : {"partition.data=2", "partition.data=3"})
    for (const char* shard : {"exchange.store=all", "exchange.store=sharded_weights"}) {
      const TemporaryFolder many;
      train(stream_job(many, {ranks, shard}), {});
      EXPECT_EQ(State(many).of("sum"), State(one).of("sum")) << ranks << ", bit for bit";
      const std::vector<double> hidden = State(many).of("hidden"),
                                expected = State(one).of("hidden");
      for (std::size_t i = 0; i < hidden.size(); ++i) EXPECT_NEAR(hidden[i], expected[i], 1e-12);
      EXPECT_LT(largest_difference(one, many), 1e-12) << ranks;
    }
}

TEST(CarriedState, GoesOnOnOtherRanks) {
  const TemporaryFolder whole;
  train(stream_job(whole), {});
  for (const auto& [before, after] : {std::pair{"partition.data=1", "partition.data=3"},
                                      {"partition.data=3", "partition.data=2"},
                                      {"partition.data=2", "partition.data=1"}}) {
    const TemporaryFolder parts;
    train(stream_job(parts, {before, "train.steps=4"}), {});
    EXPECT_EQ(State(parts).of("sum"), sums_after(stream_job(parts), 4));
    train(stream_job(parts, {after}), {.resume = true});
    EXPECT_EQ(State(parts).of("sum"), State(whole).of("sum")) << before << " then " << after;
    EXPECT_LT(largest_difference(whole, parts), 1e-12);
  }
}

// A run that was interrupted has the same bits as one that was not.
TEST(CarriedState, GoesOnBitForBit) {
  for (const char* ranks : {"partition.data=1", "partition.data=2"}) {
    const TemporaryFolder whole, parts;
    train(stream_job(whole, {ranks}), {});
    train(stream_job(parts, {ranks, "train.steps=4"}), {});
    train(stream_job(parts, {ranks}), {.resume = true});
    EXPECT_TRUE(weights_bytes(whole) == weights_bytes(parts)) << ranks;
    EXPECT_EQ(State(whole).of("hidden"), State(parts).of("hidden"));
  }
}

// Recomputation reads it again, fast kernels may work in place.
TEST(CarriedState, IsTheSameUnderOtherPlans) {
  const TemporaryFolder plain, other;
  train(stream_job(plain), {});
  train(stream_job(other, {"memory.recompute=every", "machine.backend=cpu", "train.dtype=f32"}),
        {});
  const SafetensorsFile file = read_safetensors(other.file("small.state"));
  const Tensor* sum = file.find("carried.sums.sum");
  ASSERT_NE(sum, nullptr);
  const std::vector<double> expected = State(plain).of("sum");
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(static_cast<double>(sum->as<float>()[i]), expected[i], 1e-4);
}

TEST(CarriedState, NeedsAStreamForEachSample) {
  const TemporaryFolder folder;
  expect_error(
      [&] {
        train(stream_job(folder, {"train.last_batch=keep", "data.count=64"}), {});
      },
      {"10 streams", "this batch has 4", "train.last_batch"});
  expect_error([&] { train(stream_job(folder, {"train.accumulate=2"}), {}); },
               {"10 streams", "this batch has 5"});
  expect_error([&] { train(stream_job(folder, {"optimizer.variance_reduction=svrg"}), {}); },
               {"svrg"});
}

}  // namespace
}  // namespace tutti
