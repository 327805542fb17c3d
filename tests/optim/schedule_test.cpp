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
  EXPECT_THROW(schedules().find("cosin"), Error);
}

}  // namespace
}  // namespace tutti
