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
  std::string memory_limit;                 // empty: the limit of the recipe
  std::vector<std::string> without_passes;  // names of passes to leave out
  std::string weights;  // NAME or NAME.safetensors; empty: the weights that the job wrote
};

// For CLI11's check(): the message about an empty word; "" for other words.
std::string not_empty(const std::string& word);

// Add the command line options of a recipe, of changes to it, and of weights.
void add_recipe(CLI::App& app, JobOptions& options);
void add_changes(CLI::App& app, JobOptions& options);  // --set, --without-pass
void add_weights(CLI::App& app, JobOptions& options);

// The recipe in the file `named`, or the shipped recipe of this name; the default recipe for an
// empty word.
Recipe recipe_of(const std::string& named);

// The model that the subject of a command names; nothing when it names a recipe or is empty. A
// model comes before the shipped recipe of the same name, which can still be called recipes/NAME.
std::optional<Model> model_called(const std::string& subject);
// The recipe that `subject` names by file or name; where it names a model, the default recipe with
// this model, on samples of the shape that the model was made for unless the changes name a data
// set. `command` is the caller's name in messages.
Recipe recipe_or_model(const std::string& subject, const std::string& command,
                       const JobOptions& options);

// Prints to standard error which files of the user's cache are damaged and ignored. Training does
// this itself.
void remark_on_caches();

// The job of a recipe: applies the changes and validates everything.
Job job_of(Recipe recipe, const JobOptions& options);
// The job of a recipe that is only looked at: the recipe need not say when training ends.
Job untrained_job(Recipe recipe, const JobOptions& options);

// The job that trained the weights: by the recipe that options name, or else by the recipe kept in
// the checkpoint of the weights. Fills options.weights.
Job trained_job(JobOptions& options);

}  // namespace tutti::cli
