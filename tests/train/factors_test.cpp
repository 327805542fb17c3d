// SPDX-License-Identifier: Apache-2.0
// exchange.payload = "factors": gradients that travel as their factors train the same network.
#include "tutti/comm/threads/threads.h"
#include "tutti/compile/vectors.h"
#include "tutti/recipe/step_spec.h"
#include "tutti/train/replica_options.h"

#include "expect_error.h"
#include "small_job.h"

namespace tutti {
namespace {

// 38 samples in batches of 16: a last batch of 6, which 4 ranks can't share equally.
std::vector<std::string> changed(std::vector<std::string> own) {
  own.insert(own.end(), {"model.hidden=[32,16]", "data.shape=[8]", "data.count=38",
                         "train.batch=16", "exchange.order=any"});
  return own;
}

TEST(Factors, G18RebuiltGradientsTrainTheSameNetwork) {
  for (const std::vector<std::string>& rule :
       {std::vector<std::string>{},
        {"optimizer.rule=adam", "optimizer.rate=0.001", "optimizer.clip_norm=0.1"},
        {"optimizer.rule=lars"}}) {
    const TemporaryFolder one;
    const auto with = [&](std::vector<std::string> changes) {
      changes.insert(changes.end(), rule.begin(), rule.end());
      changes.emplace_back("train.steps=20");
      return changed(changes);
    };
    train(small_job(one, with({})), {});
    for (const int ranks : {2, 4})
      for (const char* shard : {"all", "sharded"})
        for (const char* transport : {"threads", "sim"}) {
          const TemporaryFolder many;
          train(small_job(many, with({fmt::format("partition.data={}", ranks),
                                      fmt::format("exchange.store={}", shard),
                                      fmt::format("machine.transport={}", transport),
                                      "exchange.payload=factors"})),
                {});
          EXPECT_LT(largest_difference(one, many), 1e-10)
              << ranks << " ranks, " << shard << ", " << transport;
        }
  }
}

// L01: state is kept in other parts than without factors; a checkpoint knows of neither.
TEST(Factors, G18L01CheckpointsTravel) {
  const TemporaryFolder one, many;
  train(small_job(one, changed({})), {});
  train(
      small_job(many, changed({"train.steps=20", "partition.data=4", "exchange.payload=factors"})),
      {});
  train(
      small_job(many, changed({"train.steps=30", "partition.data=3", "exchange.payload=gradient"})),
      {.resume = true});
  train(small_job(many, changed({"partition.data=2", "exchange.payload=factors"})),
        {.resume = true});
  EXPECT_LT(largest_difference(one, many), 1e-10);
}

// On kernels that lay values out, with sums that cross steps and activations that are made again.
TEST(Factors, G18InFloatWhateverElseIsSet) {
  const auto trained = [&](const TemporaryFolder& folder, std::vector<std::string> own) {
    own.insert(own.end(), {"machine.backend=cpu", "train.steps=5", "partition.data=2"});
    train(small_job(folder, changed(own)), {});
    const SafetensorsFile file = read_safetensors(folder.file("small.safetensors"));
    std::vector<double> weights;
    for (const NamedTensor& entry : file.tensors)
      for (std::int64_t i = 0; i < entry.tensor.count(); ++i)
        weights.push_back(entry.tensor.as<float>()[i]);
    return weights;
  };
  const TemporaryFolder gradients;
  const std::vector<double> expected =
      trained(gradients, {"train.dtype=f32", "exchange.payload=gradient"});
  for (const std::vector<std::string>& more : {std::vector<std::string>{"exchange.across_steps=on"},
                                               {"memory.recompute=every"},
                                               {"exchange.overlap=false"},
                                               {"exchange.store=all", "exchange.across_steps=on"},
                                               {"exchange.allgather=ring"}}) {
    const TemporaryFolder factors;
    std::vector<std::string> own = more;
    own.insert(own.end(), {"train.dtype=f32", "exchange.payload=factors"});
    const std::vector<double> weights = trained(factors, own);
    ASSERT_EQ(weights.size(), expected.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      ASSERT_NEAR(weights[i], expected[i], 1e-5) << more[0];
  }
}

// What the setting says: by prediction between threads, never in fixed order, seldom over a
// network.
TEST(Factors, G18WhoDecides) {
  const TemporaryFolder folder;
  const auto layers = [&](const std::vector<std::string>& own, const TransportFacts& facts) {
    const Job job = small_job(folder, own);
    const NetInput input = net_input(job, *open_data(job, data::Split::train));
    return plan_vectors(step_spec(job, input, 1, facts)).factored.size();
  };
  std::vector<std::string> wide = changed({"partition.data=2", "model.hidden=[512,512]"});
  wide.erase(std::find(wide.begin(), wide.end(), "model.hidden=[32,16]"));
  const TransportFacts threads = thread_facts(0, 2);
  const TransportFacts nodes{
      .size = 2, .network = LinkCost{.latency_seconds = 1e-6, .seconds_per_byte = 1e-9}};
  const auto with = [&](const std::string& change) {
    std::vector<std::string> all = wide;
    all.push_back(change);
    return all;
  };
  EXPECT_EQ(layers(wide, threads), 1u);  // of 512×512; 8 inputs or 3 outputs are too few
  EXPECT_EQ(layers(wide, nodes), 1u);
  EXPECT_EQ(layers(with("train.batch=38"), nodes), 0u);
  EXPECT_EQ(layers(with("train.batch=32"), threads), 1u);
  EXPECT_EQ(layers(with("exchange.payload=gradient"), threads), 0u);
  EXPECT_EQ(layers(with("exchange.payload=factors"), nodes), 2u);
  EXPECT_EQ(layers(with("exchange.order=fixed"), threads), 0u);
  EXPECT_EQ(layers(with("train.accumulate=2"), threads), 0u);
  EXPECT_EQ(layers(with("exchange.store=sharded_weights"), threads), 0u);
  for (const char* other : {"exchange.order=fixed", "codec.name=bf16",
                            "exchange.store=sharded_weights", "train.accumulate=2"}) {
    std::vector<std::string> both = with(other);
    both.insert(both.end(), {"exchange.payload=factors", "train.dtype=f32"});
    expect_error([&] { small_job(folder, both); },
                 {"--set exchange.payload=factors", "'payload' is \"factors\", but"});
  }
}

TEST(Factors, G18GuardNamesAnOperator) {
  const TemporaryFolder folder;
  expect_error(
      [&] {
        train(small_job(folder, changed({"optimizer.rate=1e300", "partition.data=2",
                                         "exchange.payload=factors"})),
              {});
      },
      {"step ", "not finite", " of fc", "optimizer.rate"});
}

}  // namespace
}  // namespace tutti
