// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"
#include "tutti/recipe/lists.h"
#include "tutti/recipe/recipe.h"

namespace tutti::cli {
namespace {

// Every kind with all of its names, and every entry with its own page.
template <class T>
void expect_listed(Sandbox& sandbox, const std::string& kind, const List<T>& list) {
  const Result all = sandbox.run({"list"}), one = sandbox.run({"list", kind});
  expect_success(one);
  EXPECT_TRUE(contains(all.out, "\n" + kind + ": ")) << all.out;
  for (const std::string& name : list.names()) {
    EXPECT_TRUE(contains(all.out, name)) << name;
    EXPECT_TRUE(contains(one.out, "\n  " + name)) << one.out;
  }
  const Result entry = sandbox.run({"list", kind, list.names().back()});
  expect_success(entry);
  EXPECT_TRUE(entry.out.starts_with(list.names().back() + ": ")) << entry.out;
}

TEST(ListCommand, EveryKind) {
  Sandbox sandbox;
  const Lists lists = default_lists();
  expect_listed(sandbox, "models", lists.models);
  expect_listed(sandbox, "layers", lists.layers);
  expect_listed(sandbox, "losses", lists.losses);
  expect_listed(sandbox, "datasets", lists.datasets);
  expect_listed(sandbox, "rules", lists.rules);
  expect_listed(sandbox, "schedules", lists.schedules);
  expect_listed(sandbox, "gates", lists.gates);
  expect_listed(sandbox, "triggers", lists.triggers);
  expect_listed(sandbox, "stores", lists.stores);
  expect_listed(sandbox, "payloads", lists.payloads);
  expect_listed(sandbox, "codecs", lists.codecs);
  expect_listed(sandbox, "merges", lists.merges);
  expect_listed(sandbox, "local_rules", lists.local_rules);
  expect_listed(sandbox, "allreduces", lists.allreduces);
  expect_listed(sandbox, "reduce_scatters", lists.reduce_scatters);
  expect_listed(sandbox, "allgathers", lists.allgathers);
  expect_listed(sandbox, "passes", lists.passes);
  expect_listed(sandbox, "operators", lists.operators);
}

TEST(ListCommand, SettingsWithDefaultsRangesAndDocs) {
  Sandbox sandbox;
  expect_in(sandbox.run({"list", "rules", "adam"}).out, {"beta1 = 0.9 ", "0 to 0.999999"});
  expect_in(sandbox.run({"list", "layers", "convolution"}).out, {"kernel", "(required)"});
  expect_in(sandbox.run({"list", "passes", "fuse"}).out, {"(no settings)"});
}

TEST(ListCommand, DataSetsAndTheirSettings) {
  Sandbox sandbox;
  expect_in(sandbox.run({"list", "data"}).out, {"cifar10", "folder", "csv", "npy"});
  const Result result = sandbox.run({"list", "data", "cifar10"});
  expect_success(result);
  expect_in(result.out,
            {"flip = false ", "crop = 0 ", "cutout", "mean = [0.4914, 0.4822, 0.4465]"});
  const Result steps = sandbox.run({"list", "tables", "train"});
  EXPECT_FALSE(contains(steps.out, "000000000")) << steps.out;
  expect_in(steps.out, {"at least 0"});
}

TEST(ListCommand, TablesOfARecipe) {
  Sandbox sandbox;
  const Result all = sandbox.run({"list", "tables"});
  for (const std::string& table : recipe_tables()) {
    EXPECT_TRUE(contains(all.out, "\n  " + table + " ")) << all.out;
    expect_success(sandbox.run({"list", "tables", table}));
  }
  expect_in(sandbox.run({"list", "tables", "train"}).out,
            {"batch = 64 ", "epochs", "dtype", "f64"});
}

TEST(ListCommand, RecipesAndMachinesByNameFolderAndFirstSentence) {
  Sandbox sandbox;
  const Result recipes = sandbox.run({"list", "recipes"});
  expect_success(recipes);
  expect_in(recipes.out,
            {"\n  mnist ", " recipes ", "LeNet on MNIST, above 98.9 % after 5 epochs.\n",
             "\n  svrg ", " recipes/schemes ", "\n  bf16 ", " recipes/codecs "});
  for (const char* name : {"svrg", "schemes/svrg"}) {
    const Result file = sandbox.run({"list", "recipes", name});
    expect_success(file);
    EXPECT_EQ(file.out, read_bytes(TUTTI_SOURCE_DIR "/recipes/schemes/svrg.toml"));
  }
  expect_in(sandbox.run({"list"}).out, {"recipes: ", "svrg", "machines: ", "ethernet10"});
  expect_in(sandbox.run({"list", "machines"}).out, {"joined by 10 Gbit Ethernet."});
  expect_failure(sandbox.run({"list", "recipes", "svgr"}), 2,
                 {"unknown recipe 'svgr'", "did you mean 'svrg'?"});
}

TEST(ListCommand, UnknownNames) {
  Sandbox sandbox;
  expect_failure(sandbox.run({"list", "modles"}), 2, {"unknown kind 'modles'", "'models'"});
  expect_failure(sandbox.run({"list", "rules", "adan"}), 2, {"'adan'", "did you mean 'adam'?"});
}

}  // namespace
}  // namespace tutti::cli
