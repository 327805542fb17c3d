// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>

namespace tutti::cli {
namespace {

// Programs that are started find their cache in the folder.
class Cache {
 public:
  explicit Cache(const Sandbox& sandbox) {
    ::setenv("XDG_CACHE_HOME", sandbox.file("cache").c_str(), 1);
  }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  ~Cache() { ::unsetenv("XDG_CACHE_HOME"); }
};

TEST(Calibrate, MeasuresKeepsAndPredicts) {
  Sandbox sandbox;
  const Cache cache(sandbox);
  const Words show = {"show", "lenet", "--batches", "--set", "machine.threads=1"};
  const Result before = sandbox.run(show);
  expect_success(before);
  expect_in(before.out, {"To predict the time of a step, run tutti calibrate", "16167"});
  const Result measured = sandbox.run({"calibrate", "--quick", "--threads", "1"});
  expect_success(measured);
  expect_in(measured.out, {"times of operators written to", "cache/tutti/machine.json"});
  const Result shown = sandbox.run({"calibrate", "--show"});
  expect_success(shown);
  expect_in(shown.out, {"measured 20", "1 thread: fastest product", "copy within", "256.00 MiB",
                        "operator/kernel", "matmul/onednn/nt", "GFLOP/s", "convolution/onednn"});
  const Result after = sandbox.run(show);
  expect_success(after);
  expect_in(after.out, {"Predicted step: ", " ms on this machine (calibrated 20", "ms a sample"});
  EXPECT_FALSE(contains(after.out, "To predict"));
}

// The cache is for what the machine at hand was measured for; a named file is for anything else.
TEST(Calibrate, WithAFileNothingElseIsWritten) {
  Sandbox sandbox;
  const Cache cache(sandbox);
  expect_success(sandbox.run({"calibrate", "--quick", "--threads", "1", "--file", "own.json"}));
  EXPECT_EQ(sandbox.files(), Words{"own.json"});
  const Result links = sandbox.run({"calibrate", "--quick", "--links", "--file", "links.json"});
  expect_success(links);
  expect_in(links.out, {"links between ranks over threads written to links.json"});
  EXPECT_EQ(sandbox.files(), (Words{"links.json", "own.json"}));
  expect_failure(sandbox.run({"calibrate", "--quick", "--links", "--file", "own.json"}), 1,
                 {"own.json does not hold measured links"});
}

TEST(Calibrate, MeasuresAnewWhatIsDamaged) {
  Sandbox sandbox;
  const Cache cache(sandbox);
  std::filesystem::create_directories(sandbox.file("cache/tutti"));
  sandbox.write("cache/tutti/network.json", "{");
  sandbox.write("cache/tutti/machine.json", "{");
  const Result shown = sandbox.run({"show", "lenet"});
  EXPECT_EQ(shown.code, 0);
  expect_in(shown.out, {"To predict the time of a step, run tutti calibrate"});
  expect_in(shown.err, {"tutti: ignored: ", "machine.json is not a calibration", "network.json"});
  EXPECT_EQ(std::count(shown.err.begin(), shown.err.end(), '\n'), 2) << shown.err;
  expect_success(sandbox.run({"calibrate", "--quick", "--links"}));
  expect_in(sandbox.read("cache/tutti/network.json"), {"threads", "within"});
}

TEST(Calibrate, NothingToShow) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"calibrate", "--show", "--file", "nothing.json"}), 1,
                 {"no calibration at 'nothing.json'", "run tutti calibrate"});
}

TEST(Calibrate, AFileThatIsNotOne) {
  Sandbox sandbox;
  sandbox.write("machine.json", "{}");
  expect_failure(sandbox.run({"calibrate", "--show", "--file", "machine.json"}), 1,
                 {"machine.json is not a calibration", "run tutti calibrate again"});
}

}  // namespace
}  // namespace tutti::cli
