// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent on LS(1000, 5) (A02): gradients of single samples, and the error that
// a constant rate is left with.
#include "tutti/data/sampler.h"
#include "tutti/train/replica.h"
#include "tutti/train/replica_options.h"

#include "least_squares.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

struct SampleByRecipe {
  explicit SampleByRecipe(const Job& job)
      : problem(job),
        dataset(open_data(job, data::Split::train)),
        sampler({.count = dataset->count,
                 .batch = job.table("train").integer("batch"),
                 .seed = static_cast<std::uint64_t>(job.table("train").integer("seed")),
                 .order = data::order_named(job.table("train").text("order"))}),
        replica(replica_options(job, net_input(job, *dataset), 1, nullptr)),
        x(problem.features),
        y(1) {
    replica.initialise(0);
  }

  BatchPointers read(std::int64_t sample) {
    dataset->read({&sample, 1}, {.dtype = DType::f64, .fields = {x.data(), y.data()}});
    return {.samples = 1, .local = 1, .fields = {x.data(), y.data(), &one}};
  }

  LeastSquares problem;
  std::unique_ptr<data::Dataset> dataset;
  data::Sampler sampler;
  Replica replica;
  Vector x, y;
  const double one = 1;
};

const std::vector<std::string> ls_1000_5 = {"data.count=1000", "data.shape=[5]", "train.steps=1"};

TEST(StochasticGradient, A02TheMeanOverSamplesIsTheFullGradient) {
  const TemporaryFolder folder;
  const Job job = least_squares_job(folder, ls_1000_5);
  SampleByRecipe run(job);
  const Vector at = {1, -2, 0.5, 3, 0}, full = run.problem.gradient(at);
  Vector weights = at, g(static_cast<std::size_t>(run.replica.table().count())), mean(5);
  weights.resize(g.size());
  for (std::int64_t i = 0; i < 1000; ++i) {
    run.replica.gradient(run.read(i), {}, {weights.data(), g.data(), nullptr});
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += g[j] / 1000;
  }
  EXPECT_LT(length_between(mean, full), 1e-12 * length_between(full, Vector(5)));
}

// ‖w − w*‖² averaged over `steps`, when what the beginning left has decayed.
double stationary_error(double rate, std::int64_t steps) {
  const TemporaryFolder folder;
  std::vector<std::string> changes = ls_1000_5;
  changes.push_back(fmt::format("optimizer.rate={}", rate));
  const Job job = least_squares_job(folder, changes);
  SampleByRecipe run(job);
  const auto* w = static_cast<const double*>(run.replica.weights());
  const auto forgotten = static_cast<std::int64_t>(6 / rate);
  double sum = 0;
  for (std::int64_t step = 0; step < forgotten + steps; ++step) {
    const double eta = rate_at(job.schedule, job.table("optimizer"), step, 0);
    run.replica.step(run.read(run.sampler.indices(step)[0]), {.step = step, .rate = eta});
    const double distance = length_between({w, w + 5}, run.problem.optimum);
    if (step >= forgotten) sum += distance * distance;
  }
  return sum / static_cast<double>(steps);
}

// With η = 2 · rate the error is η σ² d / (2 − η (d + 2)) for normal samples: twice the rate, twice
// the error and 4 % to 8 % more. The mean is over 400 times that it takes to forget, so that it is
// within 3 % or so.
TEST(StochasticGradient, A02HalfTheRateIsHalfTheStationaryError) {
  const double large = stationary_error(0.01, 20000), small = stationary_error(0.005, 40000);
  EXPECT_NEAR(large / small, 2, 0.3) << large << " and " << small;
  EXPECT_NEAR(large, 0.02 * 5 / (2 - 0.02 * 7), 0.01);
}

}  // namespace
}  // namespace tutti
