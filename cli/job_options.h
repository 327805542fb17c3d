// SPDX-License-Identifier: Apache-2.0
// Options that say which job is meant: a recipe, changes to it, and the weights to use.
#pragma once

#include "tutti/recipe/job.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tutti::cli {

struct JobOptions {
  std::string recipe;                       // a file or a name; empty: the default recipe
  std::vector<std::string> changes;         // "table.key=value"
  std::string memory_limit;                 // empty: that of the recipe
  std::vector<std::string> without_passes;  // by name
  std::string weights;                      // NAME or NAME.safetensors; empty: the job's own
};

// For CLI11's check(): an empty word names nothing.
std::string not_empty(const std::string& word);

void add_recipe(CLI::App& app, JobOptions& options);
void add_changes(CLI::App& app, JobOptions& options);  // --set, --without-pass
void add_weights(CLI::App& app, JobOptions& options);

// The recipe in this file, or the shipped one of this name; of an empty word the default recipe.
Recipe recipe_of(const std::string& named);

// The model that the subject of a command names; none: it names a recipe, or nothing. A model comes
// before the shipped recipe of its name, which can still be called recipes/NAME.
std::optional<Model> model_called(const std::string& subject);
// A recipe by its file or name, or the default one with this model on samples it was made for,
// unless the changes name a data set; `command` names the caller.
Recipe recipe_or_model(const std::string& subject, const std::string& command,
                       const JobOptions& options);

// Says on the error output which files of the user's cache are damaged and ignored. Training says
// so itself.
void remark_on_caches();

// Applies the changes and validates everything.
Job job_of(Recipe recipe, const JobOptions& options);
// The same to be looked at only: nothing in the recipe need end the run.
Job untrained_job(Recipe recipe, const JobOptions& options);

// The job that trained the weights: by its recipe, or else by the one kept in their checkpoint.
// Fills options.weights.
Job trained_job(JobOptions& options);

}  // namespace tutti::cli
