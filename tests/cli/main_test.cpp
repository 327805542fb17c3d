// SPDX-License-Identifier: Apache-2.0
// Help, and every way to ask for something that does not exist: exit code 2 and one line.
#include "cli/run_cli.h"

namespace tutti::cli {
namespace {

// The small recipe with one line changed, in recipe.toml.
void write_changed(const Sandbox& sandbox, const std::string& line, const std::string& changed) {
  std::string text = small_recipe;
  const std::size_t at = text.find(line);
  ASSERT_NE(at, std::string::npos);
  sandbox.write("recipe.toml", text.replace(at, line.size(), changed));
}

TEST(Main, HelpAndVersion) {
  Sandbox sandbox;
  const Result version = sandbox.run({"--version"});
  expect_success(version);
  EXPECT_TRUE(version.out.starts_with("tutti ")) << version.out;
  for (const Words& words : {Words{}, Words{"--help"}}) {
    const Result help = sandbox.run(words);
    expect_success(help);
    expect_in(help.out,
              {"train", "eval", "predict", "show", "list", "data", "Examples:", "Exit codes"});
  }
}

TEST(Main, EveryCommandHasHelpWithAnExample) {
  Sandbox sandbox;
  for (const Words& words :
       {Words{"train"}, {"eval"}, {"predict"}, {"show"}, {"list"}, {"data"}, {"data", "get"}}) {
    Words asked = words;
    asked.push_back("--help");
    const Result help = sandbox.run(asked);
    expect_success(help);
    expect_in(help.out, {"Usage: ", "Example", "\n  tutti "});
  }
}

TEST(Main, UnknownCommand) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"trian"}), 2, {"unknown command 'trian'", "did you mean 'train'?"});
  expect_failure(sandbox.run({"xyzzy"}), 2,
                 {"unknown command 'xyzzy'", "expected one of: train, "});
}

TEST(Main, UnknownOption) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"train", "--rseume"}), 2,
                 {"'--rseume'", "did you mean '--resume'?", "tutti train --help"});
  expect_failure(sandbox.run({"--verbose"}), 2, {"'--verbose'", "tutti --help"});
  expect_failure(sandbox.run({"train", "a.toml", "b.toml"}), 2, {"'b.toml'", "tutti train --help"});
  expect_failure(sandbox.run({"train", "--set"}), 2, {"--set", "TABLE.KEY=VALUE"});
  expect_failure(sandbox.run({"predict"}), 2, {"files", "required"});
}

TEST(Main, UnknownKeyNamesTheNearest) {
  Sandbox sandbox;
  write_changed(sandbox, "batch = 12", "bacth = 12");
  for (const char* command : {"train", "eval", "show"})
    expect_failure(sandbox.run({command, "recipe.toml"}), 2,
                   {"recipe.toml:14: [train]: unknown key 'bacth'", "did you mean 'batch'?"});
  EXPECT_EQ(sandbox.files(), Words{"recipe.toml"});
}

TEST(Main, UnknownTable) {
  Sandbox sandbox;
  write_changed(sandbox, "[optimizer]", "[optimiser]");
  expect_failure(sandbox.run({"train", "recipe.toml"}), 2,
                 {"recipe.toml:18: unknown table [optimiser]", "did you mean 'optimizer'?"});
}

TEST(Main, WrongType) {
  Sandbox sandbox;
  write_changed(sandbox, "batch = 12", "batch = \"many\"");
  expect_failure(sandbox.run({"train", "recipe.toml"}), 2,
                 {"recipe.toml:14: [train]: 'batch' is a string (\"many\"), expected an integer"});
}

TEST(Main, OutOfRange) {
  Sandbox sandbox;
  write_changed(sandbox, "rate = 0.02", "rate = -1");
  expect_failure(sandbox.run({"train", "recipe.toml"}), 2,
                 {"recipe.toml:19: [optimizer]: 'rate' is -1, expected at least 0"});
  write_changed(sandbox, "batch = 12", "batch = 0");
  expect_failure(sandbox.run({"train", "recipe.toml"}), 2,
                 {"recipe.toml:14: [train]: 'batch' is 0, expected 1 to "});
}

TEST(Main, UnknownModel) {
  Sandbox sandbox;
  write_changed(sandbox, "name = \"mlp\"", "name = \"mlpp\"");
  expect_failure(sandbox.run({"train", "recipe.toml"}), 2,
                 {"recipe.toml:2: [model]: 'name' is \"mlpp\"", "did you mean 'mlp'?"});
  expect_failure(sandbox.run({"show", "lennet"}), 2,
                 {"unknown model or recipe 'lennet'", "did you mean 'lenet'?"});
}

TEST(Main, NoToml) {
  Sandbox sandbox;
  write_changed(sandbox, "[train]", "[train");
  expect_failure(sandbox.run({"train", "recipe.toml"}), 2, {"recipe.toml:12: ", "expected ']'"});
}

TEST(Main, WrongChange) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"train", "--set", "train.bacth=8"}), 2,
                 {"--set train.bacth=8: [train]: unknown key 'bacth'", "'batch'"});
  expect_failure(sandbox.run({"train", "--set", "batch=8"}), 2,
                 {"--set batch=8", "expected table.key=value"});
  expect_failure(sandbox.run({"show", "lenet", "--batch", "x"}), 2,
                 {"train.batch=x", "expected an integer"});
}

TEST(Main, UnknownPass) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"train", "--without-pass", "exchange"}), 2,
                 {"pass 'exchange' can't be left out", "sums gradients"});
  expect_failure(sandbox.run({"train", "--without-pass", "fusee"}), 2,
                 {"unknown pass 'fusee'", "did you mean 'fuse'?"});
}

TEST(Main, MissingRecipe) {
  Sandbox sandbox;
  for (const char* command : {"train", "eval", "show"})
    expect_failure(sandbox.run({command, "none.toml"}), 2, {"none.toml", "No such file"});
  expect_failure(sandbox.run({"train", "."}), 2, {"Is a directory"});
  expect_failure(sandbox.run({"train", ""}), 2, {"recipe", "empty"});
}

}  // namespace
}  // namespace tutti::cli
