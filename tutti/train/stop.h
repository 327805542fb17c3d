// SPDX-License-Identifier: Apache-2.0
// When a run ends (A06): steps, epochs, wall time, a target metric, no more progress, or a signal.
// The conditions are looked at after every step, by rank 0, which tells the others.
#pragma once

#include "tutti/data/sampler.h"
#include "tutti/train/evaluate.h"
#include "tutti/train/replica.h"
#include "tutti/train/training_run.h"

#include <cstdint>
#include <optional>

namespace tutti {

struct Limits {
  std::int64_t steps = 0;        // 0: none, as in the others
  std::int64_t epoch_steps = 0;  // the steps of all epochs
  double wall_time = 0;          // seconds
  double target = 0;             // accuracy, or loss where there are no classes
  bool by_loss = false;          // the target is a loss, to be fallen below

  // The steps of the whole run; 0 when it has no fixed length.
  std::int64_t total_steps() const;
};

Limits limits_of(const Job& job, const data::Dataset& dataset, const data::Sampler& sampler);

struct Stop {
  TrainSummary::Why why = TrainSummary::steps;
  int signal = 0;
};

// Whether the run is over after `steps` steps: what every rank finds by itself. `evaluation` is of
// these very weights, or nullptr.
std::optional<Stop> reached(const Limits& limits, std::int64_t steps, const Evaluation* evaluation);
// What one rank must tell the others: the time is over, or a signal came.
std::optional<Stop> asked(const Limits& limits, double seconds, int signal);

// What only rank 0 knows, by its clock and its signals.
struct Asked {
  std::optional<Stop> stop;
  bool checkpoint = false;  // one is due
};

// Whatever either asks for; `first` stops first.
Asked both(const Asked& first, const Asked& second);

// The same as the stop word, which all ranks hear: of several ranks, some steps more may be done. A
// word of zeros asks for nothing.
StopWord word_of(const Asked& asked);
Asked asked_in(const StopWord& word);

}  // namespace tutti
