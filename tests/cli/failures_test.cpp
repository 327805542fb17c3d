// SPDX-License-Identifier: Apache-2.0
// What files and disks do to a run: exit code 1, one line that names the file, and no file that is
// half written.
#include "cli/idx_recipe.h"
#include "cli/run_cli.h"

#include <sys/stat.h>

namespace tutti::cli {
namespace {

constexpr const char* weights_file = "runs/small/checkpoint.safetensors";
constexpr const char* state_file = "runs/small/checkpoint.state";

// A folder with the small recipe, trained.
class Failures : public testing::Test {
 protected:
  void SetUp() override {
    sandbox.write("small.toml", small_recipe);
    expect_success(sandbox.run({"train", "small.toml", "--quiet"}));
  }
  void flip(const char* file, std::size_t from_end) {
    std::string bytes = sandbox.read(file);
    bytes[bytes.size() - from_end] ^= 1;
    sandbox.write(file, bytes);
  }
  void cut(const char* file, std::size_t bytes) {
    sandbox.write(file, sandbox.read(file).substr(0, bytes));
  }

  Sandbox sandbox;
};

TEST_F(Failures, CorruptCheckpoint) {
  flip(weights_file, 9);
  expect_failure(sandbox.run({"eval", "small.toml"}), 1, {weights_file, "damaged"});
  expect_failure(sandbox.run({"train", "small.toml", "--resume"}), 1, {weights_file, "damaged"});
}

TEST_F(Failures, CorruptState) {
  flip(state_file, 9);
  expect_failure(sandbox.run({"train", "small.toml", "--resume"}), 1, {state_file, "damaged"});
  expect_success(sandbox.run({"eval", "small.toml"}));  // weights are all it needs
}

TEST_F(Failures, TruncatedCheckpoint) {
  cut(weights_file, 3000);
  expect_failure(sandbox.run({"eval", "small.toml"}), 1, {weights_file});
  cut(weights_file, 0);
  expect_failure(sandbox.run({"eval", "small.toml"}), 1, {weights_file});
}

TEST_F(Failures, TruncatedState) {
  cut(state_file, 3000);
  expect_failure(sandbox.run({"train", "small.toml", "--resume"}), 1, {state_file});
}

TEST_F(Failures, MissingCheckpoint) {
  expect_failure(sandbox.run({"eval", "small.toml", "--weights", "none"}), 1, {"none.safetensors"});
}

TEST_F(Failures, CheckpointOfAnotherNetwork) {
  expect_failure(sandbox.run({"eval", "small.toml", "--set", "model.hidden=[16]"}), 1,
                 {weights_file, "fc1.weight"});
}

TEST_F(Failures, DiskFullAtTheCheckpoint) {
  const std::string weights = sandbox.read(weights_file), state = sandbox.read(state_file);
  ASSERT_GT(weights.size(), 4096u);
  const Words before = sandbox.files();
  const Result result = sandbox.run({"train", "small.toml", "--resume", "--set", "train.steps=30",
                                     "--set", "train.record=none", "--set", "train.watch=none"},
                                    {.file_bytes = 4096});
  expect_failure(result, 1, {"runs/small/checkpoint", "File too large"});
  EXPECT_EQ(sandbox.files(), before);
  EXPECT_EQ(sandbox.read(weights_file), weights) << "the old checkpoint stays";
  EXPECT_EQ(sandbox.read(state_file), state);
}

TEST_F(Failures, DiskFullAtTheRecord) {
  const Words before = sandbox.files();
  const Result result = sandbox.run(
      {"train", "small.toml", "--set", "train.record=/dev/full", "--set", "train.checkpoint=mine"});
  expect_failure(result, 1, {"/dev/full", "No space left"});
  EXPECT_EQ(sandbox.files(), before);
}

TEST_F(Failures, DiskFullInTheMiddleOfTheRecord) {
  const Result result = sandbox.run({"train", "small.toml", "--set", "train.record=long.jsonl",
                                     "--set", "train.steps=1000", "--set", "train.checkpoint=none"},
                                    {.file_bytes = 6000});
  expect_failure(result, 1, {"long.jsonl", "File too large"});
  EXPECT_TRUE(sandbox.read("long.jsonl").ends_with("}\n")) << "whole lines only";
}

TEST_F(Failures, DiskFullAtTheOutput) {
  const std::string command =
      fmt::format("'{}' list >/dev/full 2>'{}'", TUTTI_CLI, sandbox.file("err"));
  const int status = std::system(command.c_str());
  expect_failure({WEXITSTATUS(status), "", sandbox.read("err")}, 1, {"No space left"});
}

TEST_F(Failures, ReadOnlyFolder) {
  std::filesystem::create_directory(sandbox.file("fixed"));
  ::chmod(sandbox.file("fixed").c_str(), 0555);
  const Denied denied{.write_any_folder = true};
  expect_failure(
      sandbox.run({"train", "small.toml", "--set", "train.checkpoint=fixed/mine"}, denied), 1,
      {"fixed/mine", "Permission denied"});
  expect_failure(
      sandbox.run({"train", "small.toml", "--set", "train.record=fixed/mine.jsonl"}, denied), 1,
      {"fixed/mine.jsonl", "Permission denied"});
  EXPECT_TRUE(std::filesystem::is_empty(sandbox.file("fixed")));

  // No folder for the run can be made.
  std::filesystem::remove_all(sandbox.file("runs"));
  ::chmod(sandbox.file("").c_str(), 0555);
  expect_failure(sandbox.run({"train", "small.toml"}, denied), 1,
                 {"folder runs", "Permission denied"});
  ::chmod(sandbox.file("").c_str(), 0755);
  EXPECT_EQ(sandbox.files(), Words{"small.toml"});
}

TEST_F(Failures, MissingFolder) {
  expect_failure(sandbox.run({"train", "small.toml", "--set", "train.checkpoint=none/mine"}), 1,
                 {"none/mine.safetensors", "No such file"});
}

// Data in IDX files, and the runs that meet them.
class DataFailures : public testing::Test {
 protected:
  void SetUp() override { write_idx_recipe(sandbox); }
  void TearDown() override { EXPECT_FALSE(sandbox.has("runs")) << "nothing was begun"; }
  Result train() { return sandbox.run({"train", "idx.toml"}); }

  Sandbox sandbox;
};

TEST_F(DataFailures, Missing) {
  std::filesystem::remove(sandbox.file("images"));
  expect_failure(train(), 1, {"idx.toml:4: [data]", "images", "No such file"});
}

TEST_F(DataFailures, MissingTestData) {
  std::filesystem::remove(sandbox.file("test_labels"));
  expect_failure(train(), 1, {"idx.toml:4: [data]", "test_labels", "No such file"});
}

TEST_F(DataFailures, Truncated) {
  sandbox.write("images", sandbox.read("images").substr(0, 200));
  expect_failure(train(), 1, {"idx.toml:4: [data]", "images", "cut off", "expected 640"});
}

TEST_F(DataFailures, Corrupt) {
  std::string bytes = sandbox.read("images");
  bytes[0] = 'x';
  sandbox.write("images", bytes);
  expect_failure(train(), 1,
                 {"idx.toml:4: [data]", "images", "not an IDX file", "expected 00 00 08"});
}

TEST_F(DataFailures, CorruptLabel) {
  std::string bytes = sandbox.read("labels");
  bytes.back() = 77;
  sandbox.write("labels", bytes);
  expect_failure(train(), 1, {"idx.toml:4: [data]", "labels", "label 77", "expected 0 to 1"});
}

TEST_F(DataFailures, MnistNotFetched) {
  sandbox.write("mnist.toml",
                "[model]\nname = \"lenet\"\n[data]\nname = \"mnist\"\nfolder = \"here\"\n"
                "[train]\nepochs = 1\n");
  expect_failure(sandbox.run({"train", "mnist.toml"}), 1,
                 {"mnist.toml:3: [data]", "here/train-images-idx3-ubyte", "tutti data get mnist"});
}

}  // namespace
}  // namespace tutti::cli
