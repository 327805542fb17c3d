// SPDX-License-Identifier: Apache-2.0
// tutti train: trains a network by a recipe.
#include "cli/train.h"

#include "cli/commands.h"
#include "cli/simulate.h"
#include "cli/supervise.h"
#include "cli/terminal.h"
#include "tutti/comm/links.h"
#include "tutti/comm/mpi/mpi.h"
#include "tutti/train/signals.h"
#include "tutti/train/train.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace tutti::cli {
namespace {

std::string resume_command(const TrainArguments& options, const std::string& folder) {
  std::string words = shell_quoted(options.program) + " train";
  if (const auto launched = launched_rank())
    words = fmt::format("mpirun -n {} {}", launched->ranks, words);
  if (!options.job.recipe.empty()) words += " " + shell_quoted(options.job.recipe);
  for (const std::string& change : options.job.changes) words += " --set " + shell_quoted(change);
  for (const std::string& pass : options.job.without_passes) words += " --without-pass " + pass;
  words += " --resume";
  return folder.empty() ? words : words + " --out " + shell_quoted(folder);
}

// The job of these options. Processes that a launcher started train data-parallel unless the recipe
// says how ranks train.
Job job_of_ranks(const TrainArguments& options, const Communicator* process) {
  Recipe recipe = recipe_of(options.job.recipe);
  if (process == nullptr) return job_of(std::move(recipe), options.job);
  if (Settings& partition = recipe.tables["partition"]; !partition.has("data"))
    partition.set("data", std::int64_t{process->size()});
  Job job = job_of(std::move(recipe), options.job);
  if (job.ranks() != process->size())
    throw UsageError(
        "{}: partition.data is {}, but {} processes were started; start {}, or set "
        "partition.data={}",
        job.recipe.file, job.ranks(), process->size(), job.ranks(), process->size());
  return job;
}

int run_rank(const TrainArguments& options, Communicator* process) {
  const Job job = job_of_ranks(options, process);
  Terminal terminal;
  const StopSignals signals(process == nullptr || process->rank() == 0);
  TrainOptions train_options{
      .communicator = process,
      .resume = options.resume,
      .folder = options.folder,
      .overwrite = options.overwrite,
      .trace = options.trace,
      .trace_steps = options.trace_steps,
      .stop_signal = [&] { return signals.received(); },
      .version = TUTTI_VERSION,
      .resume_command = [&](const std::string& folder) { return resume_command(options, folder); }};
  if (!options.quiet) {
    train_options.print = [&](const std::string& line) { terminal.print(line); };
    // mpirun gives each rank a terminal, wherever the output then goes, so no line is rewritten
    // there.
    if (terminal.interactive() && process == nullptr)
      train_options.progress = [&](const std::string& line) { terminal.progress(line); };
  }
  if (void (*const beat)() = heartbeat()) train_options.beat = beat;
  return exit_code(train(job, train_options));
}

int run_train(const TrainArguments& options) {
  if (options.simulate)
    return simulate({options.job, options.ranks, options.steps, options.machine, options.trace});
  if (options.ranks > 0 || !options.machine.empty())
    throw UsageError(
        "--ranks and --machine are for --simulate; real ranks are set by partition.data");
  if (!launched_rank()) return run_rank(options, nullptr);
  int code = 0;
  run_mpi_rank([&](Communicator& process) {
    use_measured_links(process, "mpi", links_file());
    code = run_rank(options, &process);
  });
  return code;
}

}  // namespace

void add_train_arguments(CLI::App& app, TrainArguments& arguments) {
  TrainArguments* const options = &arguments;
  add_recipe(app, options->job);
  add_changes(app, options->job);
  const auto out =
      app.add_option("-o,--out", options->folder,
                     "where files go that the recipe does not name (none: runs/NAME of its own)")
          ->type_name("FOLDER");
  out->check(not_empty)->take_last();
  const auto resume =
      app.add_flag("-r,--resume", options->resume,
                   "go on from the last checkpoint of the recipe, or that in --out");
  app.add_flag("--overwrite", options->overwrite,
               "replace the files of an earlier run in --out (none: runs/NAME)")
      ->excludes(resume);
  app.add_option("--trace", options->trace,
                 "write what every rank does when, as a trace for Chrome and Perfetto")
      ->type_name("FILE.json");
  app.add_option("--trace-steps", options->trace_steps,
                 "how many steps are timed, behind the first two; the record has their median")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_flag("-q,--quiet", options->quiet, "print nothing but errors");
  app.add_flag("--simulate", options->simulate,
               "train nothing: predict the time of a step on ranks that need not be there; the "
               "recipe may then be a model");
  app.add_option("--ranks", options->ranks, "how many are simulated (none: partition.data)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app.add_option("--steps", options->steps, "how many are simulated")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option(
         "--machine", options->machine,
         "TOML file with a table [simulation] that describes what is simulated, or the name "
         "of one that comes with tutti (see: tutti list machines)")
      ->type_name("MACHINE")
      ->check(not_empty);
}

namespace {

std::function<int()> add_train(CLI::App& app) {
  const auto options = std::make_shared<TrainArguments>();
  add_train_arguments(app, *options);
  app.footer(
      R"(A file at the path RECIPE comes first, then the recipe of that name that comes with tutti: NAME, or with
its folder, schemes/NAME. With --simulate a model of that name comes before it, and recipes/NAME means the recipe.

The run leaves a record (JSON lines), a checkpoint and the weights that did best in a test, in a folder
of its own: runs/NAME for NAME.toml, then runs/NAME-2 and so on; runs/latest points at the last one.
Ctrl-C, SIGTERM, SIGUSR1 and SIGHUP finish the step, write the checkpoint, say how to go on, and end with
128 + the number of the signal; a second one ends at once.

Examples:
  tutti train
  tutti train async              a recipe that comes with tutti (see: tutti list recipes)
  tutti train my.toml --set train.epochs=20 --set optimizer.rule=adam
  tutti train my.toml --resume
  tutti train my.toml --out runs/try --overwrite
  tutti train my.toml --set partition.data=2 --trace trace.json
  mpirun -n 4 tutti train my.toml    ranks are processes, on one or several machines
  tutti train resnet50 --simulate --ranks 1024 --set train.batch=32768 --set simulation.bandwidth=1e10
  tutti list tables train        what [train] may hold)");
  return [options, &app] {
    options->program = app.get_parent()->get_name();
    return run_train(*options);
  };
}

}  // namespace

const Command train_command{"train", "train a network by a recipe", add_train};

}  // namespace tutti::cli
