// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/train.h"

#include "tutti/comm/threads/threads.h"
#include "tutti/train/same_job.h"
#include "tutti/train/worker.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

namespace tutti {
namespace {

// Files that the recipe does not name go to a folder of their own, made when missing.
void make_run_folder(const std::string& path, const std::string& given) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failure;
  if (!given.empty() || path.empty() || std::filesystem::is_directory(folder, failure)) return;
  if (!std::filesystem::create_directories(folder, failure))
    throw Error(
        "can't make the folder {} for the files of the run: {}; make it, or set "
        "train.record and train.checkpoint",
        folder.string(), failure.message());
}

// A run should not find out at its end that its checkpoint can't be written.
void require_writable_folder(const std::string& checkpoint) {
  if (checkpoint.empty()) return;
  const std::filesystem::path parent = std::filesystem::path(checkpoint).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(
        "can't write checkpoint {}.safetensors: folder {}: {}; make it, or set "
        "train.checkpoint",
        checkpoint, folder, std::strerror(errno));
}

std::unique_ptr<data::Dataset> open_test_data(const Job& job) {
  if (job.table("train").integer("evaluate_every") == 0) return nullptr;
  try {
    return open_data(job, data::Split::test);
  } catch (const Error& error) {
    throw Error("{}; or set train.evaluate_every = 0 to train without test data", error.what());
  }
}

// The network is built for the training samples.
void require_same_samples(const Job& job, const data::Dataset& training,
                          const data::Dataset& test) {
  if (training.sample_shape != test.sample_shape || training.target_shape != test.target_shape)
    throw Error("{}: [data]: training samples are {} but test samples are {}, expected the same",
                job.recipe.file, to_string(training.sample_shape), to_string(test.sample_shape));
}

// A rank that is a process: its error ends the others, and names it.
TrainSummary work_in_process(const TrainingRun& run, Communicator& communicator) {
  try {
    return work(run, communicator);
  } catch (const Aborted&) {
    throw;
  } catch (const std::exception& error) {
    communicator.abort(error.what());
    throw Aborted(communicator.rank(), error.what());
  }
}

}  // namespace

TrainSummary train(const Job& job, const TrainOptions& options) {
  const Settings& settings = job.table("train");
  Communicator* process = options.communicator;
  if (process != nullptr) require_same_job(job, options.version, *process);
  const auto training = open_data(job, data::Split::train);
  const auto test = open_test_data(job);
  if (test != nullptr) require_same_samples(job, *training, *test);
  if (process == nullptr || process->rank() == 0) {
    make_run_folder(job.record_path(), settings.text("record"));
    make_run_folder(job.checkpoint_path(), settings.text("checkpoint"));
    require_writable_folder(job.checkpoint_path());
  }
  const TrainingRun run{
      .job = job,
      .options = options,
      .training = *training,
      .test = test.get(),
      .resume = options.resume || settings.flag("resume"),
      .threads = threads_per_rank(job, process == nullptr ? job.ranks() : process->core_sharers())};
  if (process != nullptr) return work_in_process(run, *process);
  TrainSummary summary;
  run_ranks(job.ranks(), [&](Communicator& communicator) {
    TrainSummary own = work(run, communicator);
    if (communicator.rank() == 0) summary = std::move(own);
  });
  return summary;
}

std::string name_of(TrainSummary::Why why) {
  constexpr const char* names[] = {"steps", "epochs", "wall_time", "target", "signal"};
  return names[why];
}

int exit_code(const TrainSummary& summary) {
  return summary.signal_number == SIGINT ? 128 + SIGINT : 0;
}

}  // namespace tutti
