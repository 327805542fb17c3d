// SPDX-License-Identifier: Apache-2.0
#include "tutti/report/read_record.h"

#include "expect_error.h"
#include "report/sample_record.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::report {
namespace {

Run read(const std::string& text) {
  const TemporaryFolder folder;
  write_bytes(folder.file("run.jsonl"), text);
  return read_record(folder.file("run.jsonl"));
}

void expect_refused(const std::string& text, std::initializer_list<const char*> parts) {
  expect_error([&] { read(text); }, parts);
}

TEST(ReadRecord, StepsEvaluationsAndSettings) {
  const report::Run run = read(sample_record + summary_line);
  EXPECT_EQ(run.name, "run");
  ASSERT_EQ(run.training.size(), 3u);
  EXPECT_EQ(run.training[0].step, 1);
  EXPECT_EQ(run.training[0].samples, 10);
  EXPECT_EQ(run.training[2].samples, 25);  // the last batch had 5
  EXPECT_EQ(run.training[0].seconds, 0.5);
  EXPECT_EQ(run.training[0].loss, 2.5);
  EXPECT_EQ(run.training[0].accuracy, 0.1);
  EXPECT_TRUE(std::isnan(run.training[0].absolute_error));  // it tells classes
  EXPECT_EQ(run.training[1].rate, 0.25);
  EXPECT_TRUE(std::isnan(run.training[1].loss));
  ASSERT_EQ(run.test.size(), 1u);
  EXPECT_EQ(run.test[0].accuracy, 0.4375);
  EXPECT_EQ(run.last.samples_per_second, 1234);
  EXPECT_EQ(run.last.seconds, 2);
  EXPECT_EQ(run.state, "ended by wall time");
  const std::vector<std::pair<std::string, double>> numbers = {{"bytes_per_step", 4096}};
  EXPECT_EQ(run.numbers, numbers);
  const std::vector<std::pair<std::string, std::string>> settings = {
      {"model.name", "mlp"},     {"train.batch", "10"},     {"train.order", "shuffled"},
      {"optimizer.rate", "0.5"}, {"optimizer.rule", "sgd"}, {"run.cpu", "a cpu"},
      {"run.ranks", "2"},        {"run.parameters", "99"},  {"run.training_samples", "25"},
      {"run.version", "1"}};
  EXPECT_EQ(run.settings, settings);
}

TEST(ReadRecord, TimelineOfAStep) {
  const auto run = read(sample_record);
  EXPECT_EQ(run.timeline_step, 3);
  ASSERT_EQ(run.timeline.size(), 4u);
  EXPECT_EQ(run.timeline[1].name, "allreduce_block of c1");
  EXPECT_TRUE(run.timeline[1].message);
  EXPECT_EQ(run.timeline[1].bytes, 400);
  EXPECT_EQ(run.timeline[3].rank, 1);
  EXPECT_EQ(run.timeline_seconds, (std::vector<double>{0.003, 0.009, 0.004}));
  expect_error([] { read(settings_line + R"({"kind":"timeline","step":3,"events":[[0]]})"); },
               {":2: ", "expected events"});
}

TEST(ReadRecord, TheLastConfusionAndRemarks) {
  const auto run = read(
      settings_line + R"({"kind":"confusion","step":5,"names":["cat","dog"],"counts":[[1,0],[0,1]]}
{"kind":"remark","text":"a remark"}
{"kind":"confusion","step":9,"names":["cat","dog"],"counts":[[4,1],[2,3]]}
)");
  EXPECT_EQ(run.confusion.step, 9);
  EXPECT_EQ(run.confusion.names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(run.confusion.counts, (std::vector<std::vector<double>>{{4, 1}, {2, 3}}));
  EXPECT_EQ(run.remarks, std::vector<std::string>{"a remark"});
  expect_refused(settings_line + R"({"kind":"confusion","step":5,"names":["cat"]})",
                 {"run.jsonl:2:", "expected names of classes, and counts"});
  expect_refused(
      settings_line + R"({"kind":"confusion","step":5,"names":["cat"],"counts":[[1,2],[3,4]]})",
      {"run.jsonl:2:", "expected counts of 1 by 1 classes"});
}

TEST(ReadRecord, NumbersInsteadOfClasses) {
  const report::Run run = read(
      settings_line +
      R"({"kind":"step","step":1,"epoch":0.4,"seconds":1,"loss":2,"accuracy":0.0,"absolute_error":0.75})");
  EXPECT_EQ(run.training.at(0).absolute_error, 0.75);
  EXPECT_TRUE(std::isnan(run.training.at(0).accuracy));
}

TEST(ReadRecord, OfARunThatStillWrites) {
  const std::string whole = sample_record + summary_line;
  // Wherever the last line is cut, the others count.
  for (std::size_t cut = sample_record.size(); cut < whole.size() - 2; ++cut) {
    const report::Run run = read(whole.substr(0, cut));
    ASSERT_EQ(run.training.size(), 3u);
    ASSERT_EQ(run.state, "no end in the record");
    ASSERT_EQ(run.last.samples_per_second, 40);
  }
  EXPECT_EQ(read(whole.substr(0, whole.size() - 1)).state, "ended by wall time");
  EXPECT_TRUE(read(settings_line).training.empty());
}

TEST(ReadRecord, OfAFailedRun) {
  const report::Run run =
      read(sample_record + R"({"kind":"failure","step":3,"message":"rank 1: no"})");
  EXPECT_EQ(run.state, "failed: rank 1: no");
}

// Steps after the checkpoint were done twice: the second time counts, and time goes on.
TEST(ReadRecord, OfAResumedRun) {
  std::string resumed = settings_line;
  resumed.replace(resumed.find("\"first_step\":0"), 14, "\"first_step\":2");
  const report::Run run = read(
      sample_record + resumed +
      R"({"kind":"step","step":3,"epoch":1.0,"seconds":0.25,"loss":9,"accuracy":0.5,"absolute_error":0})");
  ASSERT_EQ(run.training.size(), 3u);
  EXPECT_TRUE(run.test.empty());
  EXPECT_EQ(run.training[2].loss, 9);
  EXPECT_EQ(run.training[2].seconds, 1.25);
  EXPECT_EQ(run.settings.size(), 10u);
}

TEST(ReadRecord, RefusesWhatIsNoRecord) {
  expect_refused("", {"run.jsonl", "no complete line", "record of tutti train"});
  expect_refused("hello", {"run.jsonl", "no complete line"});
  expect_refused("[model]\nname = 1\n", {"run.jsonl:1:", "JSON object", "\"kind\""});
  expect_refused("{\"name\": 1}\n", {"run.jsonl:1:", "\"kind\""});
  expect_refused(R"({"kind":"step","step":1})", {"run.jsonl:1:", "settings", "\"step\""});
  expect_refused(sample_record + "{\"kind\":\n" + summary_line, {"run.jsonl:8:", "JSON object"});
  expect_refused(settings_line + R"({"kind":"step","step":"one","seconds":1})",
                 {"run.jsonl:2:", "\"step\" is no number"});
  expect_refused(settings_line + R"({"kind":"step","step":1})",
                 {"run.jsonl:2:", "expected \"step\" and \"seconds\""});
  expect_refused(R"({"kind":"settings","recipe":[1]})",
                 {"run.jsonl:1:", "\"recipe\" is no object"});
  expect_error([] { read_record("/none/record.jsonl"); },
               {"can't read /none/record.jsonl", "No such file"});
}

TEST(ReadRecord, NamesRunsByFolderAndTellsThemApart) {
  const TemporaryFolder folder;
  for (const char* name : {"one", "two"}) {
    std::filesystem::create_directory(folder.file(name));
    write_bytes(folder.file(name) + "/record.jsonl", sample_record);
    write_bytes(folder.file(name) + "/x.jsonl", sample_record);
  }
  const std::string one = folder.file("one"), two = folder.file("two");
  const std::vector<report::Run> runs =
      read_records({one, two, one + "/x.jsonl", two + "/x.jsonl"}).runs;
  EXPECT_EQ(runs[0].name, "one");
  EXPECT_EQ(runs[1].name, "two");
  EXPECT_EQ(runs[1].path, two + "/record.jsonl");
  EXPECT_EQ(runs[2].name, one + "/x.jsonl");
  EXPECT_EQ(runs[3].name, two + "/x.jsonl");
}

// As in `runs/*`: a link to one of the runs, a folder that no run has filled, a record of others.
TEST(ReadRecord, LinksShowARunOnceAndWhatIsNoRecordIsLeftOut) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("run-2"));
  std::filesystem::create_directory(folder.file("empty"));
  write_bytes(folder.file("run-2/record.jsonl"), sample_record);
  write_bytes(folder.file("notes.txt"), "hello\n");
  std::filesystem::create_directory_symlink("run-2", folder.file("latest"));
  const std::vector<std::string> all = {folder.file("empty"), folder.file("latest"),
                                        folder.file("notes.txt"), folder.file("run-2")};
  const Records records = read_records(all);
  ASSERT_EQ(records.runs.size(), 1u);
  EXPECT_EQ(records.runs[0].name, "run-2");
  ASSERT_EQ(records.left_out.size(), 2u);
  EXPECT_EQ(records.left_out[0], folder.file("empty") + " has no record.jsonl, which a run leaves");
  EXPECT_NE(records.left_out[1].find("notes.txt:1: expected a JSON object"), std::string::npos);
}

}  // namespace
}  // namespace tutti::report
