// SPDX-License-Identifier: Apache-2.0
// When training ends (A06): by steps, epochs, wall time, a target metric, no more progress, or a
// signal. The conditions are looked at after every step. Every rank counts steps by itself; rank 0
// tells the others of its clock and its signals.
#pragma once

#include "tutti/data/sampler.h"
#include "tutti/train/evaluate.h"
#include "tutti/train/replica.h"
#include "tutti/train/training_run.h"

#include <cstdint>
#include <optional>

namespace tutti {

struct Limits {
  std::int64_t steps = 0;        // 0: no limit, as in the following
  std::int64_t epoch_steps = 0;  // the steps of all epochs
  double wall_time = 0;          // seconds
  double target = 0;             // accuracy, or loss where there are no classes
  bool by_loss = false;          // the target is a loss: it is reached at or below

  // The steps of the whole training run; 0 when it has no fixed length.
  std::int64_t total_steps() const;
};

Limits limits_of(const Job& job, const data::Dataset& dataset, const data::Sampler& sampler);

struct Stop {
  TrainSummary::Why why = TrainSummary::steps;
  int signal = 0;
};

// Whether training is over after `steps` steps, as every rank finds by itself. `evaluation` is of
// the present weights, or nullptr.
std::optional<Stop> reached(const Limits& limits, std::int64_t steps, const Evaluation* evaluation);
// Whether rank 0 must tell the others to stop: the time is over, or a signal came.
std::optional<Stop> asked(const Limits& limits, double seconds, int signal);

// What rank 0 asks all ranks for, by its clock and its signals.
struct Asked {
  std::optional<Stop> stop;
  bool checkpoint = false;  // one is due
};

// What either of two asks for. Where both ask to stop, the reason is that of `first`.
Asked both(const Asked& first, const Asked& second);

// Such a wish as the stop word that all ranks hear, and back. With several ranks some more steps
// may be done until they hear it. A word of zeros asks for nothing.
StopWord word_of(const Asked& asked);
Asked asked_in(const StopWord& word);

}  // namespace tutti
