// SPDX-License-Identifier: Apache-2.0
// tutti stack: fits a deep stacking network module by module in closed form (C16).
#include "tutti/train/stack.h"

#include "cli/commands.h"
#include "cli/job_options.h"
#include "tutti/train/run_folder.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace tutti::cli {
namespace {

struct StackArguments {
  JobOptions job;
  double ridge = 0.1;
};

int run_stack(const StackArguments& options) {
  Job job = untrained_job(recipe_of(options.job.recipe), options.job);
  const RunFiles files(job, {});
  const FittedStack fitted = fit_stack(job, options.ridge, TUTTI_VERSION);
  if (needs_folder(job)) point_latest_run_at(job.folder);
  int module = 0;
  for (const double error : fitted.errors)
    fmt::print("module {}: mean squared training error {:.6f}\n", ++module, error);
  if (fitted.test && open_data(job, data::Split::test)->classes > 0)
    fmt::print("test accuracy {:.2f} %\n", 100 * fitted.test->accuracy);
  else if (fitted.test)
    fmt::print("test absolute error {:.6f}\n", fitted.test->absolute_error);
  if (!job.record_path().empty()) fmt::print("record {}\n", job.record_path());
  if (!job.checkpoint_path().empty())
    fmt::print("checkpoint {}.safetensors\n", job.checkpoint_path());
  return 0;
}

std::function<int()> add_stack(CLI::App& app) {
  const auto options = std::make_shared<StackArguments>();
  add_recipe(app, options->job);
  add_changes(app, options->job);
  app.add_option("--ridge", options->ridge,
                 "λ of U = (HHᵀ + λI)⁻¹HTᵀ, summed over all training samples")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.footer(
      R"(Hidden weights stay as they are drawn; `tutti train RECIPE --resume` goes on by gradients.

Examples:
  tutti stack dsn
  tutti stack dsn --ridge 1 --set model.modules=8)");
  return [options] { return run_stack(*options); };
}

}  // namespace

const Command stack_command{
    "stack", "fits a deep stacking network module by module, in closed form", add_stack};

}  // namespace tutti::cli
