// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/command.h"

#include "data/scratch.h"

namespace tutti::data {
namespace {

TEST(Command, GivesCodeAndOutput) {
  const Scratch scratch;
  const CommandResult result = run_command({"sh", "-c", "echo out; echo err >&2; exit 3"}, "/");
  EXPECT_TRUE(result.found);
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(run_command({"pwd"}, scratch.folder()).output, scratch.folder().string() + "\n");
  EXPECT_EQ(run_command({"cat"}, "/").output, "") << "there is no input";
  EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"}, "/").code, 128 + 9);
}

TEST(Command, KeepsTheEndOfLongOutput) {
  const CommandResult result = run_command({"sh", "-c", "seq 100000"}, "/");
  EXPECT_LE(result.output.size(), 2000u);
  EXPECT_EQ(result.output.substr(result.output.size() - 7), "100000\n");
}

TEST(Command, MissingProgram) {
  EXPECT_FALSE(run_command({"no-such-program-anywhere"}, "/").found);
}

}  // namespace
}  // namespace tutti::data
