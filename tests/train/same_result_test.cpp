// SPDX-License-Identifier: Apache-2.0
// What changes nothing of the result: the number of ranks, overlap, algorithms, recomputing,
// repetition.
#include "tutti/recipe/make_job.h"
#include "tutti/train/train.h"

#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>

namespace tutti {
namespace {

TEST(SameResult, SameSeedSameWeights) {
  const TemporaryFolder a, b, c;
  const std::vector<std::string> cpu = {"machine.backend=cpu", "train.dtype=f32"};
  train(small_job(a, cpu), {});
  train(small_job(b, cpu), {});
  train(small_job(c, {"machine.backend=cpu", "train.dtype=f32", "train.seed=4"}), {});
  EXPECT_EQ(checkpoint_bytes(a), checkpoint_bytes(b));
  EXPECT_NE(weights_bytes(a), weights_bytes(c));
}

TEST(SameResult, OneRankAndThreeAreEqualC01) {
  const TemporaryFolder one;
  train(small_job(one, {"train.batch=11"}), {});
  for (const char* allreduce : {"exchange.allreduce=ring", "exchange.allreduce=direct"})
    for (const char* order : {"exchange.order=fixed", "exchange.order=any"})
      for (const char* ranks : {"partition.data=2", "partition.data=3"}) {
        const TemporaryFolder many;
        const TrainSummary summary =
            train(small_job(many, {"train.batch=11", allreduce, order, ranks}), {});
        EXPECT_EQ(summary.steps_done, 50);
        EXPECT_LT(largest_difference(one, many), 1e-10)
            << allreduce << " " << order << " " << ranks;
      }
}

// Two normalisations, one behind a convolution.
Job normalised_job(const TemporaryFolder& folder, const std::string& group,
                   std::vector<std::string> changes) {
  Recipe recipe = parse_recipe(R"([data]
name = "synthetic"
shape = [2, 5, 5]
classes = 3
count = 60
test_count = 30
[train]
steps = 50
batch = 12
seed = 3
dtype = "f64"
[optimizer]
rule = "momentum"
rate = 0.05
[machine]
backend = "reference"
threads = 1
[[model.layers]]
type = "convolution"
channels = 4
kernel = 3
[[model.layers]]
type = "batch_norm"
group = )" + group + R"(
[[model.layers]]
type = "relu"
[[model.layers]]
type = "flatten"
[[model.layers]]
type = "linear"
units = 5
[[model.layers]]
type = "batch_norm"
group = )" + group + R"(
[[model.layers]]
type = "linear"
units = 3
)",
                               "normalised.toml");
  changes.push_back("train.checkpoint=\"" + folder.file("small") + "\"");
  changes.push_back("train.record=\"" + folder.file("small.jsonl") + "\"");
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

// Weights and running averages: the statistics are those of the whole batch.
TEST(SameResult, B19SynchronisedBatchNormOfManyRanksIsThatOfOne) {
  const std::vector<std::string> uneven = {"train.batch=11", "train.last_batch=\"drop\""};
  const TemporaryFolder one;
  train(normalised_job(one, "0", uneven), {});
  for (const char* ranks : {"partition.data=2", "partition.data=3", "partition.data=4"}) {
    const TemporaryFolder many;
    std::vector<std::string> changes = uneven;
    changes.emplace_back(ranks);
    EXPECT_EQ(train(normalised_job(many, "0", changes), {}).steps_done, 50);
    EXPECT_LT(largest_difference(one, many), 1e-10) << ranks;
  }
}

// Groups of 3 samples are whole on every rank, so only running averages differ: by their order of
// summation.
TEST(SameResult, B18GroupsDoNotDependOnRanks) {
  const TemporaryFolder one, two;
  train(normalised_job(one, "3", {}), {});
  train(normalised_job(two, "3", {"partition.data=2"}), {});
  EXPECT_LT(largest_difference(one, two), 1e-10);
}

// P12: what is computed again has the same bits, statistics and masks included.
TEST(SameResult, P12RecomputingChangesNoBit) {
  for (const char* backend : {"machine.backend=\"reference\"", "machine.backend=\"cpu\""}) {
    const std::vector<std::string> base = {backend, "train.dtype=\"f32\"", "train.steps=10"};
    for (const char* how :
         {"memory.recompute=\"root\"", "memory.recompute=\"every\"", "memory.recompute=\"slots\""})
      for (const char* ranks : {"partition.data=1", "partition.data=2"}) {
        std::vector<std::string> changes = base;
        changes.insert(changes.end(), {how, ranks, "exchange.order=\"fixed\"", "memory.slots=1"});
        const TemporaryFolder again, plain;
        train(normalised_job(again, "0", changes), {});
        changes[3] = "memory.recompute=\"none\"";
        train(normalised_job(plain, "0", changes), {});
        EXPECT_EQ(weights_bytes(again), weights_bytes(plain)) << backend << how << ranks;
      }
  }
}

TEST(SameResult, P12AMemoryLimitThatCantBeMetIsSaid) {
  const TemporaryFolder folder;
  expect_error([&] { train(normalised_job(folder, "0", {"memory.limit=\"2kB\""}), {}); },
               {"memory.limit", "train.batch"});
  expect_error([&] { normalised_job(folder, "0", {"memory.limit=\"much\""}); },
               {"limit", "much", "512MB"});
}

TEST(SameResult, LayerStateIsResumedL01) {
  for (const char* backend : {"machine.backend=\"reference\"", "machine.backend=\"cpu\""}) {
    const std::vector<std::string> changes = {backend, "train.dtype=\"f32\""};
    const TemporaryFolder whole, parts;
    train(normalised_job(whole, "0", changes), {});
    Script script{.signal_after = 20};
    train(normalised_job(parts, "0", changes), script.options());
    train(normalised_job(parts, "0", changes), {.resume = true});
    EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole)) << backend;
  }
}

TEST(SameResult, OverlapAndAlgorithmChangeNoBitC01) {
  std::string bits;
  for (const char* overlap : {"exchange.overlap=true", "exchange.overlap=false"})
    for (const char* allreduce : {"exchange.allreduce=ring", "exchange.allreduce=direct"})
      for (const char* block : {"exchange.block_bytes=1", "exchange.block_bytes=100000"}) {
        const TemporaryFolder folder;
        train(small_job(folder, {"partition.data=3", overlap, allreduce, block}), {});
        if (bits.empty()) bits = weights_bytes(folder);
        EXPECT_EQ(weights_bytes(folder), bits) << overlap << " " << allreduce << " " << block;
      }
  EXPECT_FALSE(bits.empty());
}

TEST(SameResult, DropoutDoesNotDependOnRanks) {
  const std::string text = R"([[model.layers]]
type = "linear"
units = 16
[[model.layers]]
type = "dropout"
[[model.layers]]
type = "linear"
units = 3
)" + std::string(small_recipe).substr(std::string(small_recipe).find("[data]"));
  TemporaryFolder folders[2];
  for (int ranks : {1, 2}) {
    Recipe recipe = parse_recipe(text, "dropout.toml");
    const TemporaryFolder& folder = folders[ranks - 1];
    set(recipe, "train.checkpoint=" + folder.file("small"));
    set(recipe, "train.record=none");
    set(recipe, "partition.data=" + std::to_string(ranks));
    train(make_job(recipe, default_lists()), {});
  }
  EXPECT_LT(largest_difference(folders[0], folders[1]), 1e-10);
}

// For how long rank 0 computes products while one of its messages is under way.
double overlapped_microseconds(const std::string& trace_file) {
  struct Interval {
    double begin, end;
  };
  std::vector<Interval> products, messages;
  const auto trace = nlohmann::json::parse(read_bytes(trace_file));
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X" || event.at("pid") != 0) continue;
    const double begin = event.at("ts"), end = begin + event.at("dur").get<double>();
    const std::string name = event.at("name");
    if (event.at("tid") == 0 && name.starts_with("matmul")) products.push_back({begin, end});
    if (event.at("tid") > 0 && name.starts_with("reduce_scatter")) messages.push_back({begin, end});
  }
  EXPECT_FALSE(products.empty());
  EXPECT_FALSE(messages.empty());
  double sum = 0;
  for (const Interval& one : products)
    for (const Interval& other : messages)
      sum += std::max(0.0, std::min(one.end, other.end) - std::max(one.begin, other.begin));
  return sum;
}

// What a rank computes after a gradient is there goes on while that travels, on a virtual clock,
// and the bits are the same as without.
TEST(SameResult, C03MessagesTravelDuringTheBackwardPass) {
  std::map<bool, std::string> weights;
  std::map<bool, double> seconds;
  for (const bool overlap : {true, false}) {
    const TemporaryFolder folder;
    TrainOptions options;
    options.trace = folder.file("trace.json");
    seconds[overlap] =
        train(small_job(folder, {"train.steps=5", "partition.data=2", "machine.transport=sim",
                                 "exchange.across_steps=off", "exchange.block_bytes=64",
                                 fmt::format("exchange.overlap={}", overlap)}),
              options)
            .seconds;
    weights[overlap] = weights_bytes(folder);
    // Less than a nanosecond is rounding of the times in the file.
    EXPECT_EQ(overlapped_microseconds(options.trace) > 1e-3, overlap);
  }
  EXPECT_TRUE(weights[true] == weights[false]);
  EXPECT_LT(seconds[true], seconds[false]);
}

// Losses of all steps, of a convolutional network in single precision.
std::vector<double> losses_with_threads(int threads, const TemporaryFolder& folder,
                                        const std::string& change) {
  Recipe recipe = parse_recipe(R"([model]
name = "lenet"
[data]
name = "synthetic"
shape = [1, 14, 14]
count = 60
test_count = 20
[train]
steps = 20
batch = 20
log_every = 1
[optimizer]
rate = 0.05
)",
                               "threads.toml");
  set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
  set(recipe, "train.record=\"" + folder.file("small.jsonl") + "\"");
  set(recipe, fmt::format("machine.threads={}", threads));
  set(recipe, change);
  train(make_job(recipe, default_lists()), {});
  std::vector<double> losses;
  std::ifstream record(folder.file("small.jsonl"));
  for (std::string line; std::getline(record, line);)
    if (const auto entry = nlohmann::json::parse(line); entry.at("kind") == "step")
      losses.push_back(entry.at("loss"));
  return losses;
}

// The number of threads decides how sums are cut, hence their rounding: the same number gives the
// same bits, another one the same samples in the same order and losses that agree to 1e-3 after 20
// steps (rounding is 1e-7; each step multiplies it). Another seed is off by more than 1e-2.
TEST(SameResult, SameThreadsSameBitsOtherThreadsSameSamples) {
  const TemporaryFolder one, two, again, other;
  const std::vector<double> by_one = losses_with_threads(1, one, "train.seed=3");
  const std::vector<double> by_two = losses_with_threads(2, two, "train.seed=3");
  EXPECT_EQ(losses_with_threads(2, again, "train.seed=3"), by_two);
  EXPECT_EQ(checkpoint_bytes(again), checkpoint_bytes(two));
  const std::vector<double> by_other = losses_with_threads(2, other, "train.seed=4");
  ASSERT_EQ(by_one.size(), 20u);
  ASSERT_EQ(by_two.size(), 20u);
  double largest = 0, of_other_seed = 0;
  for (std::size_t step = 0; step < 20; ++step) {
    largest = std::max(largest, std::abs(by_one[step] - by_two[step]) / by_one[step]);
    of_other_seed = std::max(of_other_seed, std::abs(by_other[step] - by_two[step]) / by_two[step]);
  }
  EXPECT_LT(largest, 1e-3);
  EXPECT_GT(of_other_seed, 1e-2);
}

// A thousand steps, and ranks whose weights never differ in a bit, whoever updates them.
TEST(SameResult, F02ReplicasStayEqual) {
  for (const char* shard : {"exchange.store=all", "exchange.store=sharded"}) {
    const TemporaryFolder folder;
    EXPECT_EQ(train(small_job(folder, {"train.steps=1000", "partition.data=3", "exchange.order=any",
                                       "exchange.allreduce=ring", "exchange.verify=1", shard}),
                    {})
                  .steps_done,
              1000);
  }
}

}  // namespace
}  // namespace tutti
