// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/default_recipe.h"

#include "tutti/recipe/make_job.h"
#include "tutti/train/train.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(DefaultRecipe, IsTheOneInRecipes) {
  EXPECT_EQ(read_bytes(std::string(TUTTI_SOURCE_DIR) + "/recipes/" + default_recipe_file),
            default_recipe_text);
}

TEST(DefaultRecipe, Reaches97Percent) {
  Recipe recipe = parse_recipe(default_recipe_text, default_recipe_file);
  set(recipe, "train.checkpoint=none");
  set(recipe, "train.record=none");
  const TrainSummary summary = train(make_job(recipe, default_lists()), {});
  EXPECT_GE(summary.test_accuracy, 0.97);
}

TEST(Recipes, AllAreValid) {
  const std::string folder = std::string(TUTTI_SOURCE_DIR) + "/recipes";
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".toml") continue;
    EXPECT_NO_THROW(make_job(read_recipe(file.path().string()), default_lists())) << file.path();
  }
}

// On two images of the size that each network takes at least.
TEST(Recipes, ThoseOfLargeNetworksTrain) {
  for (const auto& [name, extent] : std::vector<std::pair<std::string, int>>{{"alexnet", 63},
                                                                             {"googlenet", 31},
                                                                             {"squeezenet", 21},
                                                                             {"mobilenet", 8},
                                                                             {"densenet121", 29},
                                                                             {"vgg16", 32},
                                                                             {"resnet20", 8},
                                                                             {"resnet50", 32}}) {
    Recipe recipe = read_recipe(std::string(TUTTI_SOURCE_DIR) + "/recipes/" + name + ".toml");
    set(recipe, fmt::format("data.shape=[3,{0},{0}]", extent));
    for (const char* change : {"data.count=2", "data.classes=2", "train.batch=2", "train.epochs=1",
                               "train.checkpoint=none", "train.record=none"})
      set(recipe, change);
    if (name == "alexnet" || name == "vgg16") set(recipe, "model.units=32");
    EXPECT_EQ(train(make_job(recipe, default_lists()), {}).steps_done, 1) << name;
  }
}

}  // namespace
}  // namespace tutti
