// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/evaluate.h"

#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Evaluate, SameAsAtTheEndOfTraining) {
  const TemporaryFolder folder;
  const TrainSummary summary = train(small_job(folder), {});
  for (const char* batch : {"train.evaluation_batch=256", "train.evaluation_batch=7"}) {
    const Evaluation made = evaluate(small_job(folder, {batch}), folder.file("small"));
    EXPECT_EQ(made.samples, 30);
    EXPECT_NEAR(made.loss, summary.test_loss, 1e-12);
    EXPECT_EQ(made.accuracy, summary.test_accuracy);
  }
  EXPECT_EQ(
      evaluate(small_job(folder), folder.file("small.safetensors"), data::Split::train).samples,
      60);
}

TEST(Evaluate, DoesNotDependOnRanksAndBatch) {
  double loss = 0;
  for (const char* ranks : {"partition.data=1", "partition.data=2", "partition.data=3"})
    for (const char* batch : {"1", "7", "29", "30", "100"}) {
      const TemporaryFolder folder;
      // The weights do not move: what is compared is the evaluation.
      const TrainSummary summary =
          train(small_job(folder, {"optimizer.rate=0", "train.steps=1", ranks,
                                   std::string("train.evaluation_batch=") + batch}),
                {});
      if (loss == 0) loss = summary.test_loss;
      EXPECT_NEAR(summary.test_loss, loss, 1e-12) << ranks << " " << batch;
    }
}

TEST(Evaluate, Errors) {
  const TemporaryFolder folder;
  expect_error([&] { evaluate(small_job(folder), folder.file("absent")); },
               {"no checkpoint", "absent.safetensors"});
  expect_error(
      [&] {
        train(small_job(folder, {"data.test_count=2", "partition.data=3"}), {});
      },
      {"2 samples", "3 ranks"});
}

}  // namespace
}  // namespace tutti
