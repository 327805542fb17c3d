// SPDX-License-Identifier: Apache-2.0
// A training run of a job: its options, what its ranks share, and the summary of what came out.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/recipe/job.h"

#include <cstdint>
#include <functional>
#include <string>

namespace tutti {

struct TrainOptions {
  // This process's rank of a job of several processes, or nullptr: ranks are threads of this one.
  Communicator* communicator = nullptr;
  bool resume = false;  // go on from the job's checkpoint; train.resume does the same
  // The folder of files that the recipe does not name; empty: a new one below runs/.
  std::string folder = "";
  bool overwrite = false;  // files of an earlier run are replaced; otherwise they are an Error
  // The file for a trace of `trace_steps` steps of all ranks; empty: none. The record has the time
  // line of the median of these steps.
  std::string trace = "";
  std::int64_t trace_steps = 5;
  // Lines for people: one per epoch and the like. Empty: quiet.
  std::function<void(const std::string& line)> print = {};
  // The progress of training in one line, a few times a second, each replacing the one before; for
  // terminals. Empty: none.
  std::function<void(const std::string& line)> progress = {};
  // Called by rank 0 after every step, as a sign of life. Empty: nothing is called.
  std::function<void()> beat = {};
  // The number of a signal that asks to stop, or 0; looked at after every step (see signals.h).
  std::function<int()> stop_signal = {};
  // Seconds since any fixed time. Empty: the steady clock.
  std::function<double()> clock = {};
  std::string version = "";  // of the program, for the record
  // The command that goes on after a signal with the files of a folder (empty: the recipe names
  // them), e.g. "tutti train recipe.toml --resume --out FOLDER". Empty: no command is shown.
  std::function<std::string(const std::string& folder)> resume_command = {};
};

struct TrainSummary {
  enum Why { steps, epochs, wall_time, target, patience, signal };

  std::int64_t steps_done = 0;     // since the very beginning, those before a resume included
  std::int64_t epochs_done = 0;    // whole ones
  std::int64_t skipped_steps = 0;  // of this run, left out since gradients were not finite
  // Of the last training step. Accuracies are 0 for regression, absolute errors for classes.
  double loss = 0, accuracy = 0, absolute_error = 0;
  bool evaluated = false;  // on the test data, after the last step
  double test_loss = 0, test_accuracy = 0, test_absolute_error = 0;
  double seconds = 0;             // of this run, evaluation and checkpoints included
  double samples_per_second = 0;  // of the training steps alone
  std::int64_t sent_bytes = 0;    // by rank 0 to others
  struct Memory {
    std::int64_t planned_bytes = 0;  // flat vectors and arena
    std::int64_t grown_bytes = 0;    // most growth of the process since the ranks began
  };
  Memory memory = {};                                  // of the ranks in rank 0's process
  std::string record_path = "", checkpoint_path = "";  // empty: not written
  std::string best_path = "";  // weights of the best evaluation; empty: there was none
  bool diverged = false;       // the loss is much larger than it was in the first steps
  Why why = steps;
  int signal_number = 0;
};

// "steps", "epochs", "wall_time" …
std::string name_of(TrainSummary::Why why);

// What a shell should see: 0, or 128 + the number of the signal that stopped the run.
int exit_code(const TrainSummary& summary);

// What the ranks of a run share and only read.
struct TrainingRun {
  const Job& job;
  const TrainOptions& options;
  const data::Dataset& training;
  const data::Dataset* test = nullptr;  // nullptr: no evaluation
  bool resume = false;
  int threads = 1;                   // of each rank
  std::int64_t resident_before = 0;  // bytes of this process before there were ranks
  int ranks_here() const { return options.communicator == nullptr ? job.ranks() : 1; }
};

}  // namespace tutti
