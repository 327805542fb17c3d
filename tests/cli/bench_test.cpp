// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace tutti::cli {
namespace {

TEST(Bench, AllreduceWritesATableAndRecords_D02) {
  Sandbox sandbox;
  const Result result = sandbox.run({"bench", "allreduce", "--ranks", "3", "--min", "8", "--max",
                                     "64", "--factor", "8", "--algorithms", "ring,auto", "--dtype",
                                     "f64", "--rounds", "1", "--json", "times.jsonl"});
  expect_success(result);
  expect_in(result.out,
            {"3 ranks over threads", "busbw", "bound", "auto: direct", "results are exact"});
  std::istringstream lines(sandbox.read("times.jsonl"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto record = nlohmann::json::parse(line);
    EXPECT_EQ(record.at("bytes"), count < 2 ? 8 : 64);
    EXPECT_EQ(record.at("elements"), count < 2 ? 1 : 8);
    EXPECT_NEAR(record.at("bus_bytes_per_second").get<double>(),
                4.0 / 3 * record.at("algorithm_bytes_per_second").get<double>(), 1);
    EXPECT_GT(record.at("predicted_seconds"), 0);
    const bool messages = record.at("chosen") == "ring";
    EXPECT_EQ(record.contains("bound_seconds"), messages);
    if (messages) {
      EXPECT_GE(record.at("predicted_seconds"), record.at("bound_seconds"));
    }
  }
  EXPECT_EQ(count, 4);
}

TEST(Bench, SweepsEveryCollective_D01_D08) {
  Sandbox sandbox;
  for (const char* kind : {"allreduce", "reduce", "reduce-scatter", "broadcast", "allgather",
                           "all-to-all", "neighbour-exchange"}) {
    const Result result = sandbox.run({"bench", kind, "--ranks", "3", "--min", "1KB", "--max",
                                       "4KB", "--rounds", "1", "--json", "times.jsonl"});
    expect_success(result);
    const std::string title = fmt::format("{} of 3 ranks over threads, f32", kind);
    expect_in(result.out, {title.c_str(), "auto", "results are exact; predictions are off by"});
    const std::string records = sandbox.read("times.jsonl");
    const auto record = nlohmann::json::parse(records.substr(0, records.find('\n')));
    EXPECT_EQ(record.at("name"), kind);
    EXPECT_GT(record.at("seconds"), 0);
    EXPECT_GT(record.at("bus_bytes_per_second"), 0);
  }
}

TEST(Bench, AllreduceOfBf16SumsExactly_D02) {
  Sandbox sandbox;
  const Result result =
      sandbox.run({"bench", "allreduce", "--ranks", "5", "--min", "2", "--max", "2KB", "--factor",
                   "1000", "--dtype", "bf16", "--rounds", "1", "--json", "times.jsonl"});
  expect_success(result);
  expect_in(result.out, {"5 ranks over threads, bf16", "results are exact"});
  std::istringstream lines(sandbox.read("times.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto record = nlohmann::json::parse(line);
    EXPECT_EQ(record.at("dtype"), "bf16");
    EXPECT_EQ(record.at("bytes"), 2 * record.at("elements").get<int>());
  }
}

// K04: predictions then go by what was measured just before, and nothing is kept.
TEST(Bench, AllreduceMeasuresItsLinksFirst) {
  Sandbox sandbox;
  const auto predicted = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"bench",        "allreduce", "--min",    "64",
                                      "--max",        "64",        "--rounds", "1",
                                      "--algorithms", "ring",      "--json",   "times.jsonl"};
    words.insert(words.end(), more.begin(), more.end());
    expect_success(sandbox.run(words));
    return nlohmann::json::parse(sandbox.read("times.jsonl")).at("predicted_seconds").get<double>();
  };
  const double usual = predicted({}), measured = predicted({"--calibrate"});
  EXPECT_NE(measured, usual);
  EXPECT_GT(measured, 0);
  EXPECT_EQ(predicted({}), usual);
}

TEST(Bench, NamesWhatItDoesNotUnderstand) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"bench", "allreduce", "--max", "lots"}), 2, {"--max", "'lots'"});
  expect_failure(sandbox.run({"bench", "allreduce", "--min", "64", "--max", "8"}), 2,
                 {"--max 8 is less than --min 64"});
  expect_failure(sandbox.run({"bench", "allreduce", "--algorithms", "rings"}), 1,
                 {"unknown allreduce 'rings'", "ring"});
  expect_failure(sandbox.run({"bench", "allreduce", "--algorithms", "mpi"}), 1,
                 {"allreduce 'mpi' does not work on this transport"});
  expect_failure(sandbox.run({"bench", "allreduce", "--dtype", "u8"}), 2,
                 {"--dtype", "u8", "f32", "bf16", "f64"});
}

}  // namespace
}  // namespace tutti::cli
