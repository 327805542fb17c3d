// SPDX-License-Identifier: Apache-2.0
// tutti train: runs a recipe to its end.
#include "tutti/train/train.h"

#include "cli/commands.h"
#include "cli/job_options.h"
#include "cli/terminal.h"
#include "tutti/train/signals.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace tutti::cli {
namespace {

struct Options {
  JobOptions job;
  bool resume = false;
  bool quiet = false;
  std::string program = "";  // as it was called
};

std::string resume_command(const Options& options) {
  std::string words = shell_quoted(options.program) + " train";
  if (!options.job.recipe.empty()) words += " " + shell_quoted(options.job.recipe);
  for (const std::string& change : options.job.changes) words += " --set " + shell_quoted(change);
  for (const std::string& pass : options.job.without_passes) words += " --without-pass " + pass;
  return words + " --resume";
}

int run(const Options& options) {
  const Job job = job_of(recipe_of(options.job.recipe), options.job);
  Terminal terminal;
  const StopSignals signals;
  TrainOptions train_options{.resume = options.resume,
                             .stop_signal = [&] { return signals.received(); },
                             .version = TUTTI_VERSION,
                             .resume_command = resume_command(options)};
  if (!options.quiet) {
    train_options.print = [&](const std::string& line) { terminal.print(line); };
    if (terminal.interactive())
      train_options.progress = [&](const std::string& line) { terminal.progress(line); };
  }
  return exit_code(train(job, train_options));
}

std::function<int()> add(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_recipe(app, options->job);
  add_changes(app, options->job);
  app.add_flag("-r,--resume", options->resume, "go on from the checkpoint of the recipe");
  app.add_flag("-q,--quiet", options->quiet, "print nothing but errors");
  app.footer(
      R"(The run leaves a record (JSON lines) and a checkpoint; both are named at the end. Ctrl-C, SIGTERM and
SIGUSR1 finish the step, write the checkpoint and say how to go on.

Examples:
  tutti train
  tutti train my.toml --set train.epochs=20 --set optimizer.rule=adam
  tutti train my.toml --resume
  tutti list tables train        what [train] may hold)");
  return [options, &app] {
    options->program = app.get_parent()->get_name();
    return run(*options);
  };
}

}  // namespace

const Command train_command{"train", "train a network by a recipe", add};

}  // namespace tutti::cli
