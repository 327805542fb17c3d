// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/resume.h"

#include "tutti/recipe/make_job.h"

#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

class Resume : public testing::Test {
 protected:
  void SetUp() override { train(small_job(folder_, {"train.steps=10"}), {}); }

  TrainSummary resume(std::vector<std::string> changes) {
    changes.insert(changes.begin(), "train.steps=12");
    return train(small_job(folder_, changes), {.resume = true});
  }

  TemporaryFolder folder_;
};

TEST_F(Resume, RefusesWhatMatters) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"model.hidden=[9]", "'model.hidden' was [8] and is [9]"},
      {"model.activation=tanh", "'model.activation' was \"relu\" and is \"tanh\""},
      {"data.seed=5", "'data.seed' was 0 and is 5"},
      {"train.seed=4", "'train.seed' was 3 and is 4"},
      {"train.batch=10", "'train.batch' was 12 and is 10"},
      {"train.dtype=f32", "'train.dtype' was \"f64\" and is \"f32\""},
      {"optimizer.weight_decay=0.2", "'optimizer.weight_decay' was 0 and is 0.2"},
      {"optimizer.rule=adam", "'optimizer.rule' was \"momentum\" and is \"adam\""}};
  for (const auto& [change, part] : cases)
    expect_error([&, text = change] { resume({text}); },
                 {"small.safetensors can't be resumed", part, "set it back"});
}

TEST_F(Resume, AllowsTheRest) {
  EXPECT_EQ(resume({"partition.data=2", "exchange.overlap=false", "train.log_every=3"}).steps_done,
            12);
}

TEST_F(Resume, RefusesOtherData) {
  expect_error([&] { resume({"data.count=61"}); }, {"'data.count' was 60 and is 61"});
}

TEST_F(Resume, NotesAreEnoughToBuildTheNetwork) {
  const auto notes = read_checkpoint_state(folder_.file("small")).notes;
  Recipe recipe = parse_recipe(notes.at("recipe"), "checkpoint");
  set(recipe, "train.steps=1");
  const Job job = make_job(recipe, default_lists());
  EXPECT_EQ(identity(job).tables, identity(small_job(folder_)).tables);
}

TEST(ResumeErrors, NothingThere) {
  const TemporaryFolder folder;
  expect_error([&] { train(small_job(folder), {.resume = true}); },
               {"no checkpoint", "small.safetensors", "train.checkpoint"});
  expect_error([&] { train(small_job(folder, {"train.checkpoint=none"}), {.resume = true}); },
               {"nothing to resume from"});
}

TEST_F(Resume, DamagedCheckpointIsRefused) {
  std::string bytes = read_bytes(folder_.file("small.state"));
  bytes[bytes.size() - 3] ^= 1;
  write_bytes(folder_.file("small.state"), bytes);
  expect_error([&] { resume({}); }, {"small.state"});
}

}  // namespace
}  // namespace tutti
