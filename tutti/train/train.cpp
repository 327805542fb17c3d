// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/train.h"

#include "tutti/comm/threads/threads.h"
#include "tutti/train/machine.h"
#include "tutti/train/run_folder.h"
#include "tutti/train/same_job.h"
#include "tutti/train/worker.h"

#include <csignal>

namespace tutti {
namespace {

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
    make_record_folder(job);
    make_checkpoint_folder(job);
  }
  const TrainingRun run{
      .job = job,
      .options = options,
      .training = *training,
      .test = test.get(),
      .resume = options.resume || settings.flag("resume"),
      .threads = threads_per_rank(job, process == nullptr ? job.ranks() : process->core_sharers()),
      .resident_before = resident_bytes()};
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
