// SPDX-License-Identifier: Apache-2.0
// machine.fault, and what ranks say of one that has stopped (L12).
#include "tutti/recipe/fault.h"

#include "expect_error.h"
#include "train/small_job.h"

namespace tutti {
namespace {

TEST(Faults, AreReadFromText_L12) {
  EXPECT_EQ(fault_named("none").kind, Fault::none);
  const Fault fault = fault_named("hang 2 17");
  EXPECT_EQ(fault.kind, Fault::hang);
  EXPECT_EQ(fault.rank, 2);
  EXPECT_EQ(fault.step, 17);
  for (const char* text : {"", "hang", "hang 1", "sleep 1 2", "kill 1 2 3", "throw one 2"})
    expect_error([&] { fault_named(text); }, {"'fault' is", "hang 1 20"});
}

TEST(Faults, AreFoundWhenTheRecipeIsRead) {
  const TemporaryFolder folder;
  expect_error([&] { small_job(folder, {"machine.fault=\"hang\""}); }, {"[machine]", "'fault'"});
}

TEST(Faults, StrikeTheirRankAtTheirStepAndNotAfterAResume) {
  const TemporaryFolder folder;
  const std::vector<std::string> changes = {"partition.data=3", "machine.fault=\"throw 1 7\"",
                                            "train.checkpoint_every=5"};
  expect_error([&] { train(small_job(folder, changes), {}); },
               {"rank 1 failed", "machine.fault strikes at step 7"});
  EXPECT_EQ(train(small_job(folder, changes), {.resume = true}).steps_done, 50);
}

}  // namespace
}  // namespace tutti
