// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

#include <stdlib.h>

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
