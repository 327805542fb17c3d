// SPDX-License-Identifier: Apache-2.0
#include "cli/job_options.h"

#include "cli/commands.h"
#include "cli/shipped.h"
#include "tutti/compile/rewrites.h"
#include "tutti/recipe/default_recipe.h"
#include "tutti/recipe/make_job.h"
#include "tutti/train/caches.h"
#include "tutti/train/run_folder.h"
#include "tutti/train/trained_network.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace tutti::cli {
namespace {

// The recipe that is kept in the file of these weights; the default recipe where `weights` is
// empty.
Recipe recipe_beside(const std::string& weights) {
  if (weights.empty()) return recipe_of("");
  std::optional<Recipe> recipe = recipe_in(weights);
  if (!recipe)
    throw Error(
        "{} does not say which network it holds, as files of other tools; name the recipe that "
        "trained it",
        weights);
  return *std::move(recipe);
}

std::string latest_weights() {
  if (!std::filesystem::exists(latest_run_folder))
    throw Error("there is no {} yet; train first, or name weights with --weights",
                latest_run_folder);
  return fmt::format("{}/checkpoint", latest_run_folder);
}

}  // namespace

std::string not_empty(const std::string& word) {
  return word.empty() ? "a name is expected, not an empty word" : "";
}

void add_recipe(CLI::App& app, JobOptions& options) {
  app.add_option("recipe", options.recipe,
                 "what describes the run: a TOML file, or the name of a recipe that comes with "
                 "tutti (see: tutti list recipes; none: LeNet on handwritten digits)")
      ->type_name("RECIPE")
      ->check(not_empty);
}

void add_changes(CLI::App& app, JobOptions& options) {
  app.add_option("--set", options.changes, "change the recipe; may be given many times")
      ->type_name("TABLE.KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--memory-limit", options.memory_limit,
                 "bytes that a rank may use, such as 512MB: what does not fit is computed again")
      ->type_name("BYTES");
  app.add_option("--without-pass", options.without_passes,
                 "leave out a rewrite of the graph (see: tutti list passes)")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

void add_weights(CLI::App& app, JobOptions& options) {
  app.add_option("-w,--weights", options.weights,
                 "NAME of NAME.safetensors (none: the latest checkpoint, of the recipe if one is "
                 "given). Without a recipe, that of the weights is used")
      ->type_name("NAME");
}

Recipe recipe_of(const std::string& named) {
  if (named.empty()) return parse_recipe(default_recipe_text, default_recipe_file);
  if (std::optional<Recipe> recipe = as_usage([&] { return read_named(named, shipped_recipes); }))
    return *std::move(recipe);
  if (models().has(named))
    throw UsageError("there is no recipe {}; for the model of that name: --set model.name={}",
                     named, named);
  throw UsageError("unknown recipe '{}'{}", named,
                   nearest_of(named, shipped_recipes().names(), "tutti list recipes"));
}

std::optional<Model> model_called(const std::string& subject) {
  if (is_file(subject) || !models().has(subject)) return std::nullopt;
  return models().find(subject);
}

Recipe recipe_or_model(const std::string& subject, const std::string& command,
                       const JobOptions& options) {
  const std::optional<Model> model = model_called(subject);
  if (subject.empty()) return recipe_of("");
  if (!model) {
    if (std::optional<Recipe> recipe =
            as_usage([&] { return read_named(subject, shipped_recipes); }))
      return *std::move(recipe);
    std::vector<std::string> names = models().names();
    for (const std::string& name : shipped_recipes().names())
      if (!models().has(name)) names.push_back(name);
    throw UsageError("unknown model or recipe '{}'{}", subject,
                     nearest_of(subject, names, "tutti list models, tutti list recipes"));
  }
  Recipe recipe = recipe_of("");
  recipe.tables["model"] = {{"name", subject}};
  recipe.origins["model.name"] = command + " " + subject;
  const auto names_data = [](const std::string& change) {
    return change.starts_with("data.name=");
  };
  const std::vector<std::string>& changes = options.changes;
  if (!model->sample_shape.empty() && std::none_of(changes.begin(), changes.end(), names_data))
    recipe.tables["data"] = {
        {"name", "synthetic"}, {"shape", model->sample_shape}, {"classes", model->classes}};
  return recipe;
}

void remark_on_caches() {
  for (const std::string& remark : cache_remarks()) fmt::print(stderr, "tutti: {}\n", remark);
}

Job job_of(Recipe recipe, const JobOptions& options) {
  return as_usage([&] {
    for (const std::string& change : options.changes) set(recipe, change);
    if (!options.memory_limit.empty())
      set(recipe, fmt::format("memory.limit=\"{}\"", options.memory_limit));
    Job job = make_job(recipe, default_lists());
    for (const std::string& name : options.without_passes)
      job.without_passes.insert(job.lists.passes.find(name).name);
    require_may_be_left_out(job.without_passes);
    return job;
  });
}

Job untrained_job(Recipe recipe, const JobOptions& options) {
  if (Settings& train = recipe.tables["train"]; !train.has("steps"))
    train.set("steps", std::int64_t{1});
  remark_on_caches();
  return job_of(std::move(recipe), options);
}

Job trained_job(JobOptions& options) {
  if (options.recipe.empty() && options.weights.empty()) options.weights = latest_weights();
  Job job = untrained_job(
      options.recipe.empty() ? recipe_beside(options.weights) : recipe_of(options.recipe), options);
  if (options.weights.empty()) {
    job.folder = latest_run(job);
    options.weights = job.checkpoint_path();
  }
  if (options.weights.empty())
    throw UsageError("{}: train.checkpoint is \"none\"; name the weights with --weights",
                     job.recipe.file);
  return job;
}

}  // namespace tutti::cli
