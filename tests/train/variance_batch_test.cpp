// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/variance_batch.h"

#include "least_squares.h"
#include "small_job.h"

#include <nlohmann/json.hpp>

#include <fstream>

namespace tutti {
namespace {

using Changes = std::vector<std::string>;

// Samples of each step, from the record.
std::vector<std::int64_t> batches_in(const TemporaryFolder& folder) {
  std::ifstream file(folder.file("small.jsonl"));
  std::vector<std::int64_t> batches;
  for (std::string line; std::getline(file, line);)
    if (const auto json = nlohmann::json::parse(line); json["kind"] == "step")
      batches.push_back(json["batch"].get<std::int64_t>());
  return batches;
}

// σ² at w: the mean of ‖g_i − g‖² over the samples.
double sample_variance_at(const LeastSquares& problem, const Vector& w) {
  const Vector mean = problem.gradient(w);
  double sum = 0;
  for (std::size_t i = 0; i < problem.samples; ++i)
    for (std::size_t j = 0; j < problem.features; ++j) {
      const double own = 2 * (dot(problem.row(i), w) - problem.y[i]) * problem.row(i)[j];
      sum += (own - mean[j]) * (own - mean[j]);
    }
  return sum / static_cast<double>(problem.samples);
}

// Least squares, the batch chosen so that σ²/B ≤ ‖g‖²: at the weights that each step begins with,
// the true variance of its mean gradient is compared with the true gradient.
TEST(VarianceBatch, GrowsAsTheGradientShrinksAndKeepsTheBoundI12) {
  for (const char* ranks : {"partition.data=1", "partition.data=2"}) {
    const TemporaryFolder folder;
    const Job job = least_squares_job(
        folder, {"data.count=4096", "train.order=shuffled", "train.last_batch=drop",
                 "train.batch=64", "train.accumulate=4", "train.steps=150", "train.log_every=1",
                 "train.checkpoint_every=1", "train.record=\"" + folder.file("small.jsonl") + "\"",
                 "optimizer.batch_from_variance=1", "optimizer.grow_batch_to=1024", ranks});
    const LeastSquares problem(job);
    std::vector<Vector> weights = {Vector(problem.features)};  // before each step
    TrainOptions options;
    // Asked while the checkpoint of the step before is there.
    options.beat = [&] {
      if (!std::filesystem::exists(folder.file("small.safetensors"))) return;
      const SafetensorsFile file = read_safetensors(folder.file("small.safetensors"));
      const auto* w = file.tensors.at(0).tensor.as<double>();
      weights.emplace_back(w, w + problem.features);
    };
    train(job, options);
    const std::vector<std::int64_t> batches = batches_in(folder);
    ASSERT_EQ(batches.size(), 150U);
    ASSERT_EQ(weights.size(), 150U);
    EXPECT_EQ(batches.front(), 64);
    EXPECT_EQ(batches.back(), 1024);
    EXPECT_TRUE(std::is_sorted(batches.begin(), batches.end()));
    double steps = 0, kept = 0;
    for (std::size_t k = 0; k < batches.size() && batches[k] < 1024; ++k) {
      const Vector g = problem.gradient(weights[k]);
      const double variance =
          sample_variance_at(problem, weights[k]) / static_cast<double>(batches[k]);
      ++steps;
      kept += variance <= dot(g.data(), g);
    }
    EXPECT_GT(steps, 40) << ranks;
    EXPECT_GE(kept, 0.95 * steps) << ranks;
  }
}

const Changes growing = {"train.batch=4",
                         "train.accumulate=2",
                         "train.steps=40",
                         "train.log_every=1",
                         "optimizer.batch_from_variance=0.7",
                         "optimizer.grow_batch_to=32"};

TEST(VarianceBatch, ResumesBitForBitI12) {
  for (const Changes& more : {Changes{}, Changes{"partition.data=2", "exchange.verify=1"}}) {
    Changes changes = growing;
    changes.insert(changes.end(), more.begin(), more.end());
    const TemporaryFolder whole, parts;
    train(small_job(whole, changes), {});
    EXPECT_GT(batches_in(whole).back(), 4) << "it has grown";
    Script script{.signal_after = 17};
    train(small_job(parts, changes), script.options());
    train(small_job(parts, changes), {.resume = true});
    EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole));
  }
}

// Epochs stay whole: 60 samples each, however many steps they take.
TEST(VarianceBatch, EpochsStayWholeI12) {
  Changes changes = growing;
  changes.insert(changes.end(), {"train.steps=0", "train.epochs=4"});
  const TemporaryFolder folder;
  const TrainSummary summary = train(small_job(folder, changes), {});
  EXPECT_EQ(summary.epochs_done, 4);
  EXPECT_LT(summary.steps_done, 60) << "fewer updates than with batches of 4";
  std::int64_t samples = 0;
  for (const std::int64_t batch : batches_in(folder)) samples += batch;
  EXPECT_EQ(samples, 240);
}

}  // namespace
}  // namespace tutti
