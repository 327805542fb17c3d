// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

#include <filesystem>

namespace tutti::cli {
namespace {

TEST(ReportCommand, WritesAPageFromWhatTrainingRecorded) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  expect_success(sandbox.run({"train", "small.toml"}));
  expect_success(sandbox.run(
      {"train", "small.toml", "--set", "optimizer.rate=0.01", "--set", "train.record=slow.jsonl"}));
  const Result result = sandbox.run({"report", "runs/small", "slow.jsonl"});
  expect_success(result);
  EXPECT_EQ(result.out, "report report.html\n");
  expect_in(sandbox.read("report.html"),
            {"<title>Tutti: small, slow</title>", "\"samples\":[12,24,36,48,60,72",
             "<th>optimizer.rate</th><td data-label=\"small\">0.02</td>"
             "<td class=\"differs\" data-label=\"slow\">0.01</td>"});
}

TEST(ReportCommand, LeavesOutWhatHasNoRecord) {
  Sandbox sandbox;
  sandbox.write("a.jsonl", "{\"kind\":\"settings\"}\n");
  std::filesystem::create_directories(sandbox.file("runs/empty"));
  const Result result = sandbox.run({"report", "runs/empty", "a.jsonl"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "report report.html\n");
  EXPECT_EQ(result.err, "tutti: left out: runs/empty has no record.jsonl, which a run leaves\n");
  expect_in(sandbox.read("report.html"), {"<title>Tutti: a</title>"});
}

TEST(ReportCommand, Refusals) {
  Sandbox sandbox;
  sandbox.write("small.toml", small_recipe);
  expect_failure(sandbox.run({"report"}), 2, {"records"});
  expect_failure(sandbox.run({"report", "none.jsonl"}), 1, {"none.jsonl", "No such file"});
  expect_failure(sandbox.run({"report", "small.toml"}), 1, {"small.toml:1:", "JSON object"});
  expect_failure(sandbox.run({"report", "none.jsonl", "small.toml"}), 1,
                 {"none.jsonl", "No such file", "nor is any other of 2 paths a record"});
  EXPECT_FALSE(sandbox.has("report.html"));
  const std::string record = "{\"kind\":\"settings\"}\n";
  sandbox.write("a.jsonl", record);
  expect_failure(sandbox.run({"report", "a.jsonl", "-o", "a.jsonl"}), 2, {"replace", "a.jsonl"});
  EXPECT_EQ(sandbox.read("a.jsonl"), record);
  expect_failure(sandbox.run({"report", "a.jsonl", "-o", "none/a.html"}), 1, {"none/a.html"});
}

}  // namespace
}  // namespace tutti::cli
