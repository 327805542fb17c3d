// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/confusion.h"

#include "tutti/train/evaluate.h"

#include "small_job.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <numeric>
#include <sstream>

namespace tutti {
namespace {

Confusion three_classes() {
  Confusion confusion(3);
  confusion.counts = {5, 1, 0,   // of 6
                      2, 3, 0,   // of 5
                      0, 1, 0};  // of 1, never predicted
  return confusion;
}

TEST(Confusion, FiguresOfClasses) {
  const std::vector<ClassFigures> figures = figures_of(three_classes());
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_DOUBLE_EQ(figures[0].precision, 5.0 / 7);
  EXPECT_DOUBLE_EQ(figures[0].recall, 5.0 / 6);
  EXPECT_DOUBLE_EQ(figures[0].f1, 2 * (5.0 / 7) * (5.0 / 6) / (5.0 / 7 + 5.0 / 6));
  EXPECT_EQ(figures[1].support, 5);
  EXPECT_EQ(figures[2].precision, 0) << "nothing was predicted as it";
  EXPECT_EQ(figures[2].f1, 0);
}

TEST(Confusion, MostConfusedPairs) {
  EXPECT_EQ(most_confused(three_classes(), 2), (std::vector<ConfusedPair>{{1, 0, 2}, {0, 1, 1}}));
  EXPECT_EQ(most_confused(three_classes(), 9).size(), 3u);
  EXPECT_TRUE(most_confused(Confusion(), 9).empty());
}

nlohmann::json confusion_line(const TemporaryFolder& folder) {
  std::istringstream record(read_bytes(folder.file("small.jsonl")));
  nlohmann::json found;
  int count = 0;
  for (std::string line; std::getline(record, line);)
    if (auto json = nlohmann::json::parse(line); json["kind"] == "confusion") found = json, ++count;
  EXPECT_LE(count, 1);
  return found;
}

// Every sample is counted once, on whatever rank it is, and the diagonal is the accuracy.
TEST(Confusion, TheRecordHasThatOfTheLastEvaluation) {
  nlohmann::json alone;
  for (const char* ranks : {"1", "2", "3"}) {
    const TemporaryFolder folder;
    const std::string change = std::string("partition.data=") + ranks;
    const TrainSummary summary = train(small_job(folder, {change, "train.evaluation_batch=7"}), {});
    const nlohmann::json line = confusion_line(folder);
    ASSERT_TRUE(line.is_object());
    EXPECT_EQ(line["step"], 50);
    EXPECT_EQ(line["names"], nlohmann::json({"0", "1", "2"}));
    ASSERT_EQ(line["counts"].size(), 3u);
    std::int64_t all = 0, right = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      right += line["counts"][i][i].get<std::int64_t>();
      for (const auto& count : line["counts"][i]) all += count.get<std::int64_t>();
    }
    EXPECT_EQ(all, 30);
    EXPECT_DOUBLE_EQ(static_cast<double>(right) / 30, summary.test_accuracy);
    if (alone.is_null()) alone = line;
    EXPECT_EQ(line, alone) << ranks << " ranks";
  }
}

TEST(Confusion, NotOfNumbersNorOfTooManyClasses) {
  for (const char* change : {"data.targets=2", "data.classes=101"}) {
    const TemporaryFolder folder;
    train(small_job(folder, {"train.steps=1", change}), {});
    EXPECT_TRUE(confusion_line(folder).is_null()) << change;
  }
  const TemporaryFolder folder;
  const Job job = small_job(folder, {"train.steps=1", "data.classes=101"});
  train(job, {});
  EXPECT_EQ(evaluate(job, folder.file("small")).confusion.classes, 101) << "where it was asked for";
}

}  // namespace
}  // namespace tutti
