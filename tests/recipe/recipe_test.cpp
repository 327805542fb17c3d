// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/recipe.h"

#include "expect_error.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <limits>

namespace tutti {
namespace {

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

constexpr const char* text = R"(# a run
[model]
name = "mlp"
[[model.layers]]
kind = "linear"
size = 300
[[model.layers]]
kind = "relu"

[train]
batch = 32
rate = 1
shuffle = false
sizes = [3, 4]
weights = [1, 0.5]
checkpoint = "runs/a \"b\"\n"
)";

std::vector<Setting> train_settings() {
  return {{"batch", std::int64_t{1}, "samples per step", 1, 4096},
          {"rate", 0.1, "learning rate", 0, 10},
          {"shuffle", true, "another order every epoch"},
          {"sizes", Integers{}, "of layers"},
          {"weights", Reals{}, "of classes"},
          {"checkpoint", std::string(), "file to write"},
          {.name = "order", .initial = std::string("any"), .doc = "", .choices = {"any", "fixed"}}};
}

Recipe recipe(const std::string& toml = text) { return parse_recipe(toml, "run.toml"); }

void expect_refused(const std::string& toml, std::initializer_list<const char*> parts) {
  expect_error([&] { recipe(toml); }, parts);
}

// Parsing is fine, resolving [train] is not.
void expect_unresolved(const std::string& toml, std::initializer_list<const char*> parts) {
  const Recipe parsed = recipe(toml);
  expect_error([&] { resolve_table(parsed, "train", train_settings()); }, parts);
}

TEST(Recipe, ReadsEveryType) {
  const Settings train = recipe().tables.at("train");
  EXPECT_EQ(train.integer("batch"), 32);
  EXPECT_EQ(train.integer("rate"), 1);
  EXPECT_FALSE(train.flag("shuffle"));
  EXPECT_EQ(train.integers("sizes"), (Integers{3, 4}));
  EXPECT_EQ(train.reals("weights"), (Reals{1, 0.5}));
  EXPECT_EQ(train.text("checkpoint"), "runs/a \"b\"\n");
}

TEST(Recipe, ReadsLayersInOrder) {
  const Recipe parsed = recipe();
  ASSERT_EQ(parsed.layers.size(), 2u);
  EXPECT_EQ(parsed.layers[0].text("kind"), "linear");
  EXPECT_EQ(parsed.layers[0].integer("size"), 300);
  EXPECT_EQ(parsed.layers[1].text("kind"), "relu");
  EXPECT_EQ(parsed.tables.at("model").values().size(), 1u);
}

TEST(Recipe, ResolvesATable) {
  const Settings train = resolve_table(recipe(), "train", train_settings());
  EXPECT_EQ(train.real("rate"), 1.0);
  EXPECT_EQ(train.text("order"), "any");
  const Settings none = resolve_table(recipe(""), "train", train_settings());
  EXPECT_EQ(none.integer("batch"), 1);
}

TEST(Recipe, ResolvesALayer) {
  const std::vector<Setting> declared = {{"kind", std::string(), ""},
                                         {"size", std::int64_t{1}, "outputs", 1, 100}};
  EXPECT_EQ(resolve_layer(recipe(), 1, declared).integer("size"), 1);
  expect_error([&] { resolve_layer(recipe(), 0, declared); },
               {"run.toml:6: [[model.layers]]: 'size' is 300, expected 1 to 100"});
}

TEST(Recipe, SyntaxErrorNamesTheLine) {
  expect_refused("[train]\nbatch = \n", {"run.toml:2:"});
  expect_refused("[train\n", {"run.toml:1:"});
  expect_refused("[train]\nbatch = 1\nbatch = 2\n", {"run.toml:3:", "batch"});
  expect_refused("[train]\nname = \"\xff\"\n", {"run.toml:2:"});
}

TEST(Recipe, UnknownTableNamesTheNearest) {
  expect_refused("[model]\n[trian]\nbatch = 1\n",
                 {"run.toml:2: unknown table [trian]", "did you mean 'train'?"});
  expect_refused("[something]\n", {"expected one of: model, data, train, optimizer"});
}

TEST(Recipe, KeyOutsideATable) {
  expect_refused("\nbatch = 32\n", {"run.toml:2: 'batch' stands in no table", "[model], [data]"});
}

TEST(Recipe, TableWrittenAsAList) {
  expect_refused("[[train]]\nbatch = 1\n", {"run.toml:1: [[train]] is a list", "[train]"});
}

TEST(Recipe, ValuesNoSettingCanHave) {
  expect_refused("[train]\nwhen = 2020-01-01\n", {"run.toml:2: [train]: 'when' is a date"});
  expect_refused("[train]\nx = [\"a\"]\n", {"run.toml:2: [train]: 'x' is a mixed list"});
  expect_refused("[train.inner]\nx = 1\n", {"run.toml:1: [train]: 'inner' is a table"});
  expect_refused("[[model.layers]]\nx = [[1]]\n", {"run.toml:2: [[model.layers]]: 'x'"});
}

TEST(Recipe, LayersMustBeTables) {
  expect_refused("[model]\nlayers = 3\n", {"run.toml:2: [model]: 'layers'", "[[model.layers]]"});
  expect_refused("[model]\nlayers = [3]\n", {"run.toml:2:", "[[model.layers]]"});
}

TEST(Recipe, UnknownKeyNamesFileLineAndNearest) {
  expect_unresolved("[train]\nbatch = 2\n\nbtach = 3\n",
                    {"run.toml:4: [train]: unknown key 'btach'", "did you mean 'batch'?"});
}

TEST(Recipe, WrongTypeNamesFileLineAndKey) {
  expect_unresolved("[train]\nrate = 1\nbatch = \"many\"\n",
                    {"run.toml:3: [train]: 'batch' is a string (\"many\"), expected an integer"});
}

TEST(Recipe, OutOfRangeNamesFileLineAndKey) {
  expect_unresolved("[train]\nrate = 11.5\n",
                    {"run.toml:2: [train]: 'rate' is 11.5, expected 0 to 10"});
  expect_unresolved("[train]\nrate = nan\n", {"run.toml:2: [train]: 'rate' is nan"});
}

TEST(Recipe, WrongChoiceNamesFileLineAndKey) {
  expect_unresolved("[train]\norder = \"fixd\"\n",
                    {"run.toml:2: [train]: 'order' is \"fixd\"", "did you mean 'fixed'?"});
}

TEST(Recipe, MissingKeyNamesTheTable) {
  Setting name{"name", std::string(), "of the model"};
  name.required = true;
  const Setting size{"size", std::int64_t{1}, ""};
  expect_error(
      [&] {
        resolve_table(recipe("\n[model]\nsize = 1"), "model", {name, size});
      },
      {"run.toml:2: [model]: 'name' is missing"});
  expect_error([&] { resolve_table(recipe(""), "model", {name}); },
               {"run.toml: [model]: 'name' is missing"});
  expect_error(
      [&] {
        resolve_table(recipe("[model]\nsize = \"x\""), "model", {name, size});
      },
      {"run.toml:2: [model]: 'size'"});
}

TEST(RecipeSet, OverridesAndAdds) {
  Recipe parsed = recipe();
  for (const char* assignment :
       {"train.batch=64", "train.rate=0.5", "train.shuffle=true", "train.sizes=[5]",
        "train.weights=[0.5, 1e-3]", "train.checkpoint=runs/new", "data.name=digits",
        "data.text=\"a = b.c\"", "data.day=2020-01-01", "data.sum=1+1"})
    set(parsed, assignment);
  const Settings& train = parsed.tables.at("train");
  EXPECT_EQ(train.integer("batch"), 64);
  EXPECT_EQ(train.real("rate"), 0.5);
  EXPECT_TRUE(train.flag("shuffle"));
  EXPECT_EQ(train.integers("sizes"), Integers{5});
  EXPECT_EQ(train.reals("weights"), (Reals{0.5, 1e-3}));
  EXPECT_EQ(train.text("checkpoint"), "runs/new");
  const Settings& data = parsed.tables.at("data");
  EXPECT_EQ(data.text("name"), "digits");
  EXPECT_EQ(data.text("text"), "a = b.c");
  EXPECT_EQ(data.text("day"), "2020-01-01");
  EXPECT_EQ(data.text("sum"), "1+1");
}

TEST(RecipeSet, ErrorsNameTheAssignment) {
  Recipe parsed = recipe();
  set(parsed, "train.batch=0");
  expect_error([&] { resolve_table(parsed, "train", train_settings()); },
               {"--set train.batch=0: [train]: 'batch' is 0, expected 1 to 4096"});
}

TEST(RecipeSet, RefusesWhatIsNoAssignment) {
  for (const char* wrong : {"batch=3", "train.batch", "train", "", ".batch=3", "train.=3", "=3"})
    expect_error(
        [&] {
          Recipe parsed;
          set(parsed, wrong);
        },
        {"--set", wrong, "expected table.key=value"});
}

TEST(RecipeSet, RefusesUnknownTablesAndLayers) {
  Recipe parsed;
  expect_error([&] { set(parsed, "trian.batch=3"); }, {"--set trian.batch=3", "mean 'train'?"});
  expect_error([&] { set(parsed, "model.layers=3"); }, {"write them into the recipe"});
}

TEST(RecipeSet, RefusesWhatIsNoValue) {
  Recipe parsed;
  for (const char* wrong : {"train.sizes=[1, 2", "train.name=\"open", "train.x={a=1}",
                            "train.x=[\"a\"]", "train.x=", "train.x=1\ny=2"})
    EXPECT_THROW(set(parsed, wrong), Error) << wrong;
  expect_error([&] { set(parsed, "train.sizes=[1, 2"); },
               {"--set train.sizes=[1, 2: '[1, 2' is no value", "list of numbers"});
}

TEST(Recipe, PrintsWhatItReads) {
  Recipe first = recipe();
  first.tables["train"] = resolve_table(first, "train", train_settings());
  first.tables["train"].set("tiny", 1e-300);
  first.tables["train"].set("endless", std::numeric_limits<double>::infinity());
  first.tables["train"].set("odd key", std::string("tab\t, bell\a, \\ and ü"));
  const Recipe second = recipe(to_toml(first));
  EXPECT_EQ(second.tables, first.tables);
  EXPECT_EQ(second.layers, first.layers);
  EXPECT_EQ(to_toml(second), to_toml(first));
}

TEST(Recipe, PrintsTablesInOrder) {
  EXPECT_EQ(to_toml(recipe("[train]\nrate = 2.0\nbatch = 3\n[model]\nname = \"m\"\n"
                           "[[model.layers]]\nkind = \"relu\"\n")),
            "[model]\nname = \"m\"\n\n[[model.layers]]\nkind = \"relu\"\n\n"
            "[train]\nbatch = 3\nrate = 2.0\n");
  EXPECT_EQ(to_toml(recipe("")), "");
}

TEST(Recipe, ReadsAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.toml");
  expect_error([&] { read_recipe(path); }, {"can't read recipe", path.c_str(), "No such file"});
  expect_error([&] { read_recipe(folder.path()); }, {"can't read recipe", "directory"});
  write_bytes(path, text);
  EXPECT_EQ(read_recipe(path).tables, recipe().tables);
  write_bytes(path, "");
  EXPECT_TRUE(read_recipe(path).tables.empty());
  write_bytes(path, "[train]\nbatch = ");
  expect_error([&] { read_recipe(path); }, {(path + ":2:").c_str()});
}

TEST(Recipe, SaysHowACheckpointIsGiven) {
  expect_error([] { read_recipe("runs/a/checkpoint.safetensors"); },
               {"is a checkpoint, expected a recipe", "--weights runs/a/checkpoint"});
}

}  // namespace
}  // namespace tutti
