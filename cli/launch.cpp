// SPDX-License-Identifier: Apache-2.0
// tutti launch: starts a training run with several ranks and watches it. It prints one message when
// a rank fails, ends the run when it hangs, and starts it again from the last checkpoint.
#include "cli/commands.h"
#include "cli/supervise.h"
#include "cli/terminal.h"
#include "cli/train.h"
#include "tutti/comm/mpi/mpi.h"
#include "tutti/core/cores.h"
#include "tutti/core/own_program.h"
#include "tutti/train/run_folder.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>

namespace tutti::cli {
namespace {

struct LaunchArguments {
  int ranks = 1, retries = 0;
  double timeout = 0;
  std::string transport = "threads";
  std::vector<std::string> words;  // "train …"
};

// The arguments of `tutti train` that these words are.
TrainArguments meant_by(const std::vector<std::string>& words) {
  TrainArguments meant;
  CLI::App app;
  add_train_arguments(app, meant);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::Success&) {
    throw UsageError("see tutti train --help for what stands behind --");
  } catch (const CLI::ParseError& error) {
    throw UsageError("{} (see tutti train --help)", error.what());
  }
  return meant;
}

// The folder of the training run, fixed before the first attempt, as later attempts must go on with
// it.
std::string folder_for(Job& job, const TrainArguments& meant, MadeFolder& made) {
  if (!meant.folder.empty()) return behind_links(meant.folder);
  if (meant.resume || job.table("train").flag("resume")) return latest_run(job);
  if (meant.overwrite) return job.folder;
  return made.path = new_run_folder(job.name);
}

// How an attempt begins.
struct Beginning {
  bool resume = false, overwrite = false;
};

std::vector<std::string> command_of(const LaunchArguments& options, const std::string& folder,
                                    const Beginning& beginning) {
  std::vector<std::string> command;
  if (options.transport == "mpi") {
    command = {"mpirun", "-n", std::to_string(options.ranks)};
    if (options.ranks > available_cores()) command.emplace_back("--oversubscribe");
    if (::geteuid() == 0) command.emplace_back("--allow-run-as-root");
  }
  command.push_back(own_program());
  for (const std::string& word : options.words)
    if (word != "--overwrite") command.push_back(word);
  command.insert(command.end(), {"--set", fmt::format("partition.data={}", options.ranks)});
  if (options.timeout > 0)
    command.insert(command.end(), {"--set", fmt::format("exchange.timeout={}", options.timeout)});
  if (!folder.empty()) command.insert(command.end(), {"--out", folder});
  if (beginning.resume) command.emplace_back("--resume");
  if (beginning.overwrite) command.emplace_back("--overwrite");
  return command;
}

// When the checkpoint was last written; nothing: it does not exist.
std::optional<std::filesystem::file_time_type> written(const std::string& checkpoint) {
  std::error_code missing;
  const auto time = std::filesystem::last_write_time(checkpoint + ".state", missing);
  if (missing) return std::nullopt;
  return time;
}

int run_launch(const LaunchArguments& options) {
  if (options.words.empty() || options.words[0] != "train")
    throw UsageError("tutti launch starts training: tutti launch -n {} -- train RECIPE",
                     options.ranks);
  if (options.transport == "mpi" && !has_mpi())
    throw UsageError(
        "--transport mpi: this tutti was built without MPI (libopenmpi-dev openmpi-bin)");
  const TrainArguments meant = meant_by(options.words);
  Job job = job_of(recipe_of(meant.job.recipe), meant.job);
  MadeFolder made;
  if (needs_folder(job)) job.folder = folder_for(job, meant, made);
  const std::string folder = needs_folder(job) ? job.folder : "";
  const std::string checkpoint = job.checkpoint_path();
  const auto before = written(checkpoint);
  // Later attempts may replace files that earlier attempts have left, but no results that were
  // there before.
  const bool replaceable = meant.overwrite || (!meant.resume && !has_results(job));
  Beginning beginning{.overwrite = meant.overwrite};
  for (int attempt = 0;; ++attempt) {
    const Ending ending = supervise(command_of(options, folder, beginning), options.timeout);
    const bool hopeless = ending.code == 0 || ending.code == 2 || ending.stopped;
    if (!hopeless && attempt < options.retries) {
      // A checkpoint from before this command belongs to another run, unless that run was to be
      // resumed.
      const auto now = written(checkpoint);
      beginning.resume = !meant.resume && now && now != before;
      beginning.overwrite = !beginning.resume && replaceable;
      fmt::print(stderr, "tutti: attempt {} of {}, {}\n", attempt + 2, options.retries + 1,
                 beginning.resume || meant.resume ? "from the last checkpoint" : "from the start");
      continue;
    }
    return ending.code;
  }
}

std::function<int()> add_launch(CLI::App& app) {
  const auto options = std::make_shared<LaunchArguments>();
  app.add_option("-n,--ranks", options->ranks, "how many ranks")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app.add_option("--transport", options->transport,
                 "threads of one process, or processes that mpirun starts")
      ->check(CLI::IsMember({"threads", "mpi"}));
  app.add_option("--retries", options->retries,
                 "how often to go on from the last checkpoint after a failure")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  app.add_option("--timeout", options->timeout,
                 "seconds without a step, or of waiting for a rank, after which the run has failed")
      ->check(CLI::NonNegativeNumber)
      ->type_name("SECONDS");
  app.add_option("command", options->words, "train, with its recipe and options")
      ->required()
      ->type_name("-- train …");
  app.footer(R"(Examples:
  tutti launch -n 4 -- train my.toml
  tutti launch -n 4 --transport mpi --retries 3 --timeout 60 -- train my.toml --set train.checkpoint_every=100)");
  return [options] { return run_launch(*options); };
}

}  // namespace

const Command launch_command{"launch", "train with several ranks, watched and started again",
                             add_launch};

}  // namespace tutti::cli
