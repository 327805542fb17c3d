// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/replica.h"

#include "tutti/train/replica_options.h"

#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>

#include <limits>

namespace tutti {
namespace {

TEST(Replica, NamesTheFieldThatIsNotFinite) {
  const TemporaryFolder folder;
  const Job job = small_job(folder, {"data.targets=2"});
  const auto dataset = open_data(job, data::Split::train);
  Replica replica(replica_options(job, net_input(job, *dataset), 1, nullptr));
  replica.initialise(1);
  const std::vector<double> x(12, 0.5), y(4, 0.5), weights(2, 0.5);
  const auto step = [&](const std::vector<double>& input, const std::vector<double>& targets) {
    replica.step({2, 2, {input.data(), targets.data(), weights.data()}}, {.rate = 0.1});
  };
  step(x, y);
  std::vector<double> broken = x;
  broken[7] = std::numeric_limits<double>::infinity();
  expect_error([&] { step(broken, y); }, {"not finite is in the input batch", "look at the data"});
  broken = y;
  broken[3] = std::numeric_limits<double>::quiet_NaN();
  expect_error([&] { step(x, broken); }, {"the loss is nan", "is in the targets batch"});
}

TEST(Replica, ABatchHasTheFieldsOfTheNetwork) {
  const TemporaryFolder folder;
  const Job job = small_job(folder);
  const auto dataset = open_data(job, data::Split::train);
  Replica replica(replica_options(job, net_input(job, *dataset), 1, nullptr));
  replica.initialise(1);
  const std::vector<double> x(6);
  const std::vector<std::int32_t> labels(1);
  EXPECT_THROW(replica.step({1, 1, {x.data(), labels.data()}}, {}), std::logic_error);
}

}  // namespace
}  // namespace tutti
