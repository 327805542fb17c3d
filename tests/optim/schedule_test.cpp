// SPDX-License-Identifier: Apache-2.0
#include "tutti/optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

double rate(const std::string& name, const Settings& given, std::int64_t step,
            std::int64_t total_steps = 100) {
  const Schedule schedule = schedules().find(name);
  return rate_at(schedule, resolve(rate_settings(schedule), given, "here"), step, total_steps);
}

using Integers = std::vector<std::int64_t>;

TEST(Schedule, ConstantIsTheBaseRate_I02) {
  for (std::int64_t step : {0, 1, 50, 1000})
    EXPECT_EQ(rate("constant", {{"rate", 0.3}}, step), 0.3);
}

TEST(Schedule, StepDropsEveryFewSteps_I02) {
  const Settings given = {{"rate", 0.8}, {"every", std::int64_t{10}}, {"factor", 0.5}};
  EXPECT_EQ(rate("step", given, 0), 0.8);
  EXPECT_EQ(rate("step", given, 9), 0.8);
  EXPECT_EQ(rate("step", given, 10), 0.4);
  EXPECT_EQ(rate("step", given, 19), 0.4);
  EXPECT_EQ(rate("step", given, 35), 0.1);
}

TEST(Schedule, StepDropsAtMilestones_I02) {
  const Settings given = {{"rate", 1.0}, {"milestones", Integers{30, 60}}, {"factor", 0.25}};
  EXPECT_EQ(rate("step", given, 29), 1.0);
  EXPECT_EQ(rate("step", given, 30), 0.25);
  EXPECT_EQ(rate("step", given, 59), 0.25);
  EXPECT_EQ(rate("step", given, 60), 0.0625);
}

TEST(Schedule, StepWithoutDropsIsConstant) { EXPECT_EQ(rate("step", {{"rate", 0.3}}, 99), 0.3); }

TEST(Schedule, CosineFallsToItsFinalPart_I02) {
  const Settings given = {{"rate", 0.4}, {"final", 0.1}};
  EXPECT_EQ(rate("cosine", given, 0), 0.4);
  EXPECT_DOUBLE_EQ(rate("cosine", given, 50), 0.4 * 0.55);
  EXPECT_DOUBLE_EQ(rate("cosine", given, 25), 0.4 * (0.1 + 0.9 * (1 + std::sqrt(0.5)) / 2));
  EXPECT_DOUBLE_EQ(rate("cosine", given, 100), 0.4 * 0.1);
  EXPECT_DOUBLE_EQ(rate("cosine", given, 150), 0.4 * 0.1);  // a run that is continued stays there
}

TEST(Schedule, PolynomialFallsToItsFinalPart_I02) {
  const Settings given = {{"rate", 0.4}, {"power", 2.0}, {"final", 0.1}};
  EXPECT_EQ(rate("polynomial", given, 0), 0.4);
  EXPECT_DOUBLE_EQ(rate("polynomial", given, 50), 0.4 * (0.1 + 0.9 * 0.25));
  EXPECT_DOUBLE_EQ(rate("polynomial", given, 100), 0.4 * 0.1);
  EXPECT_DOUBLE_EQ(rate("polynomial", given, 101), 0.4 * 0.1);
  EXPECT_DOUBLE_EQ(rate("polynomial", {{"rate", 0.4}}, 75), 0.1);  // a straight line
}

TEST(Schedule, ExponentialFallsALittleInEachStep_I02) {
  const Settings given = {{"rate", 0.8}, {"every", std::int64_t{10}}, {"factor", 0.25}};
  EXPECT_EQ(rate("exponential", given, 0), 0.8);
  EXPECT_DOUBLE_EQ(rate("exponential", given, 5), 0.4);
  EXPECT_DOUBLE_EQ(rate("exponential", given, 10), 0.2);
  EXPECT_DOUBLE_EQ(rate("exponential", given, 20), 0.05);
}

TEST(Schedule, InverseTimeAndInverseRoot_I02) {
  const Settings time = {{"rate", 0.6}, {"every", std::int64_t{10}}};
  EXPECT_EQ(rate("inverse", time, 0), 0.6);
  EXPECT_DOUBLE_EQ(rate("inverse", time, 10), 0.3);
  EXPECT_DOUBLE_EQ(rate("inverse", time, 50), 0.1);
  const Settings root = {{"rate", 0.6}, {"every", std::int64_t{1}}, {"power", 0.5}};
  EXPECT_DOUBLE_EQ(rate("inverse", root, 3), 0.3);
}

TEST(Schedule, WarmRestarts_I13) {
  const Settings given = {{"rate", 0.8}, {"every", std::int64_t{10}}, {"final", 0.25}};
  // Periods of 10, 20, 40: full rate at each restart, the mean at half period.
  for (std::int64_t restart : {0, 10, 30, 70}) EXPECT_EQ(rate("restarts", given, restart), 0.8);
  for (std::int64_t half : {5, 20, 50}) EXPECT_DOUBLE_EQ(rate("restarts", given, half), 0.5);
  const double last = 0.25 + 0.75 * (1 + std::cos(std::acos(-1.0) * 0.9)) / 2;
  EXPECT_DOUBLE_EQ(rate("restarts", given, 9), 0.8 * last);
  Settings equal = given;
  equal.set("growth", 1.0);
  for (std::int64_t restart : {0, 10, 20, 990}) EXPECT_EQ(rate("restarts", equal, restart), 0.8);
  for (std::int64_t half : {5, 15, 995}) EXPECT_DOUBLE_EQ(rate("restarts", equal, half), 0.5);
}

TEST(Schedule, EverySchedulesStartsAtTheBaseRateAndCountsBehindWarmup_I02) {
  for (const Schedule& schedule : schedules()) {
    const Settings given = {{"rate", 0.5}, {"warmup_steps", std::int64_t{20}}};
    EXPECT_EQ(rate(schedule.name, {{"rate", 0.5}}, 0), 0.5) << schedule.name;
    EXPECT_EQ(rate(schedule.name, given, 20), 0.5) << schedule.name;
    for (std::int64_t step = 0; step < 100; ++step) {
      EXPECT_GE(rate(schedule.name, given, step), 0) << schedule.name;
      EXPECT_LE(rate(schedule.name, given, step), 0.5) << schedule.name;
    }
  }
}

TEST(Schedule, ScalesWithTheBatch_I08) {
  const auto scaled = [](const std::string& scaling, std::int64_t batch) {
    const Schedule constant = schedules().find("constant");
    const Settings given = {{"rate", 0.1}, {"scaling", scaling}, {"base_batch", std::int64_t{64}}};
    return rate_at(constant, resolve(rate_settings(constant), given, "here"), 0, 100, batch);
  };
  EXPECT_DOUBLE_EQ(scaled("linear", 1024), 1.6);
  EXPECT_DOUBLE_EQ(scaled("square_root", 1024), 0.4);
  EXPECT_DOUBLE_EQ(scaled("none", 1024), 0.1);
  EXPECT_DOUBLE_EQ(scaled("linear", 32), 0.05);
}

TEST(Schedule, WarmupRisesFromTheBaseToTheScaledRate_I09) {
  const Schedule constant = schedules().find("constant");
  const Settings settings = resolve(rate_settings(constant),
                                    {{"rate", 0.1},
                                     {"scaling", std::string("linear")},
                                     {"base_batch", std::int64_t{64}},
                                     {"warmup_steps", std::int64_t{10}},
                                     {"warmup_start", 1.0}},
                                    "here");
  const auto at = [&](std::int64_t step) { return rate_at(constant, settings, step, 100, 512); };
  EXPECT_DOUBLE_EQ(at(0), 0.1);
  EXPECT_DOUBLE_EQ(at(5), 0.45);
  EXPECT_DOUBLE_EQ(at(10), 0.8);
  EXPECT_DOUBLE_EQ(at(99), 0.8);
}

TEST(Schedule, TheBatchGrowsWhereTheRateWouldFall_I11) {
  const auto both = [](const std::string& name, Settings given, std::int64_t step,
                       std::int64_t batch) {
    given.set("rate", 0.8);
    const Schedule schedule = schedules().find(name);
    const Settings settings = resolve(rate_settings(schedule), given, "here");
    return std::pair(batch_at(schedule, settings, step, 100, batch),
                     rate_at(schedule, settings, step, 100, batch));
  };
  Settings given = {
      {"every", std::int64_t{10}}, {"factor", 0.1}, {"grow_batch_to", std::int64_t{3200}}};
  EXPECT_EQ(both("step", given, 9, 32), std::pair(std::int64_t{32}, 0.8));
  EXPECT_EQ(both("step", given, 10, 32), std::pair(std::int64_t{320}, 0.8));
  EXPECT_EQ(both("step", given, 20, 32).first, 3200);
  EXPECT_DOUBLE_EQ(both("step", given, 20, 32).second, 0.8);
  // At its bound the batch stays, and the rate falls.
  EXPECT_EQ(both("step", given, 30, 32).first, 3200);
  EXPECT_DOUBLE_EQ(both("step", given, 30, 32).second, 0.08);
  // Between whole multiples the rate makes up for the rest: rate / batch follows the schedule.
  for (std::int64_t step : {0, 20, 50, 77, 99}) {
    const auto [batch, grown_rate] =
        both("cosine", {{"grow_batch_to", std::int64_t{160}}}, step, 32);
    EXPECT_EQ(batch % 32, 0);
    EXPECT_LE(batch, 160);
    EXPECT_NEAR(grown_rate / static_cast<double>(batch), rate("cosine", {{"rate", 0.8}}, step) / 32,
                1e-15);
  }
  EXPECT_EQ(both("step", {{"every", std::int64_t{10}}}, 30, 32).first, 32) << "not asked for";
}

TEST(Schedule, WarmupRisesLinearly_I09) {
  const Settings given = {
      {"rate", 0.8}, {"warmup_steps", std::int64_t{10}}, {"warmup_start", 0.25}};
  EXPECT_EQ(rate("constant", given, 0), 0.2);
  EXPECT_EQ(rate("constant", given, 5), 0.5);
  EXPECT_EQ(rate("constant", given, 10), 0.8);
  EXPECT_EQ(rate("constant", given, 11), 0.8);
}

TEST(Schedule, CosineStartsAfterWarmup_I09) {
  const Settings given = {{"rate", 1.0}, {"warmup_steps", std::int64_t{20}}};
  EXPECT_EQ(rate("cosine", given, 0), 0.0);
  EXPECT_EQ(rate("cosine", given, 10), 0.5);
  EXPECT_EQ(rate("cosine", given, 20), 1.0);
  EXPECT_DOUBLE_EQ(rate("cosine", given, 60), 0.5);
  EXPECT_NEAR(rate("cosine", given, 100), 0.0, 1e-16);
}

TEST(Schedule, CosineOfARunThatIsAllWarmup) {
  const Settings given = {{"rate", 1.0}, {"warmup_steps", std::int64_t{10}}};
  EXPECT_EQ(rate("cosine", given, 5, 10), 0.5);
}

TEST(Schedule, RefusesBadSettings) {
  EXPECT_THROW(rate("cosine", {{"final", 1.5}}, 0), Error);
  EXPECT_THROW(rate("step", {{"milestones", Integers{0}}}, 0), Error);
  EXPECT_THROW(rate("constant", {{"every", std::int64_t{3}}}, 0), Error);
  EXPECT_THROW(rate("restarts", {{"growth", 0.5}}, 0), Error);
  EXPECT_THROW(rate("inverse", {{"every", std::int64_t{0}}}, 0), Error);
  EXPECT_THROW(rate("constant", {{"scaling", std::string("cubic")}}, 0), Error);
  EXPECT_THROW(schedules().find("cosin"), Error);
}

}  // namespace
}  // namespace tutti
