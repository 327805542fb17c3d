// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/train.h"

#include "tutti/comm/sim/sim.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/core/memory.h"
#include "tutti/recipe/simulation.h"
#include "tutti/train/endpoint.h"
#include "tutti/train/run_folder.h"
#include "tutti/train/same_job.h"
#include "tutti/train/worker.h"

#include <optional>

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

// Throws Error unless test samples are like training samples, which the network is built for.
void require_same_samples(const Job& job, const data::Dataset& training,
                          const data::Dataset& test) {
  if (with_capacity(training.fields, 1) != with_capacity(test.fields, 1))
    throw Error("{}: [data]: training samples are {} but test samples are {}, expected the same",
                job.recipe.file, to_string(training.sample_shape()),
                to_string(test.sample_shape()));
}

// Trains as one rank that is a process. An Error ends the other ranks, too, and names this one.
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

// How many ranks share the cores of a machine. On a virtual clock ranks take turns, and those of
// one simulated node share its cores.
int sharers_of_cores(const Job& job, const Communicator* process) {
  if (process != nullptr) return process->core_sharers();
  if (on_virtual_clock(job)) return static_cast<int>(job.table("simulation").integer("node_ranks"));
  return job.ranks();
}

}  // namespace

TrainSummary train(const Job& given, const TrainOptions& options) {
  Job job = given;  // a copy whose folder is chosen here
  const bool resume = options.resume || job.table("train").flag("resume");
  Communicator* process = options.communicator;
  if (process != nullptr && on_virtual_clock(job))
    throw Error("machine.transport = \"sim\" is of one process, but {} were started; start one",
                process->size());
  if (process != nullptr && !job.scheme.gate.meets)
    throw Error(
        "exchange.gate = \"{}\" is of one process, whose threads are ranks and stores, but {} were "
        "started; start one",
        job.scheme.gate.name, process->size());
  if (process != nullptr) require_same_job(job, options.version, *process);
  const auto training = open_data(job, data::Split::train);
  const auto test = open_test_data(job);
  if (test != nullptr) require_same_samples(job, *training, *test);
  std::optional<RunFiles> files;
  if (process == nullptr || process->rank() == 0)
    files.emplace(job, RunPlace{options.folder, resume, options.overwrite});
  if (process != nullptr) job.folder = text_of_rank_0(job.folder, *process);
  const TrainingRun run{.job = job,
                        .options = options,
                        .training = *training,
                        .test = test.get(),
                        .resume = resume,
                        .threads = threads_per_rank(job, sharers_of_cores(job, process)),
                        .resident_before = resident_bytes()};
  if (process != nullptr) return work_in_process(run, *process);
  TrainSummary summary;
  const auto on_rank = [&](Communicator& communicator) {
    TrainOptions own = options;
    if (!own.clock) own.clock = [&] { return communicator.seconds(); };
    const TrainingRun here{run.job,    own,         run.training,       run.test,
                           run.resume, run.threads, run.resident_before};
    if (communicator.is_endpoint()) return serve_store(here, communicator);
    TrainSummary made = work(here, communicator);
    if (communicator.rank() == 0) summary = std::move(made);
  };
  const int endpoints = job.scheme.gate.meets ? 0 : job.ranks();
  if (on_virtual_clock(job))
    sim::run_simulated_ranks(job.ranks(), simulated_machine(job.table("simulation")), on_rank,
                             endpoints);
  else
    run_ranks(job.ranks(), on_rank, endpoints);
  return summary;
}

}  // namespace tutti
