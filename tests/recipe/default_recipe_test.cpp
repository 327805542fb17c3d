// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/default_recipe.h"

#include "tutti/recipe/make_job.h"
#include "tutti/recipe/shipped.h"
#include "tutti/train/train.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <map>

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

List<ShippedFile> recipes() { return shipped_files(TUTTI_SOURCE_DIR, "recipes", "recipe"); }

TEST(Recipes, AllAreValid) {
  for (const ShippedFile& file : recipes())
    EXPECT_NO_THROW(make_job(read_recipe(file.path), default_lists())) << file.path;
}

// Large networks on two images of the size that each takes at least; not those whose data must be
// fetched first.
TEST(Recipes, ThoseWithoutFilesTrain) {
  const std::map<std::string, int> extents = {
      {"alexnet", 63},     {"googlenet", 31}, {"squeezenet", 21}, {"mobilenet", 8},
      {"densenet121", 29}, {"vgg16", 32},     {"resnet20", 8},    {"resnet50", 32}};
  for (const ShippedFile& file : recipes()) {
    Recipe recipe = read_recipe(file.path);
    const std::string data = make_job(recipe, default_lists()).dataset.name;
    if (data == "mnist" || data == "cifar10") continue;
    if (const auto extent = extents.find(file.name); extent != extents.end()) {
      set(recipe, fmt::format("data.shape=[3,{0},{0}]", extent->second));
      for (const char* change : {"data.count=2", "data.classes=2", "train.batch=2"})
        set(recipe, change);
    }
    for (const char* change : {"train.steps=1", "train.checkpoint=none", "train.record=none"})
      set(recipe, change);
    if (file.name == "alexnet" || file.name == "vgg16") set(recipe, "model.units=32");
    EXPECT_EQ(train(make_job(recipe, default_lists()), {}).steps_done, 1) << file.name;
  }
}

}  // namespace
}  // namespace tutti
