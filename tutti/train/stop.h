// SPDX-License-Identifier: Apache-2.0
// When a run ends (A06): steps, epochs, wall time, a target metric, no more progress, or a signal.
// The conditions are looked at after every step, by rank 0, which tells the others.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/data/sampler.h"
#include "tutti/train/evaluate.h"
#include "tutti/train/training_run.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

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

// What rank 0 is asked, on all ranks. It is told when a step begins and heard when it ends, so that
// nobody waits: of several ranks, a step more may be done.
class CommonStop {
 public:
  explicit CommonStop(Communicator& communicator);
  ~CommonStop();
  CommonStop(const CommonStop&) = delete;
  CommonStop& operator=(const CommonStop&) = delete;

  // `own` counts on rank 0 only. Calls of the two alternate.
  void tell(const Asked& own);
  Asked hear();

 private:
  Communicator& communicator_;
  const int tag_;
  std::vector<Request> requests_;  // of rank 0 one per peer, else one
  std::array<std::int32_t, 3> word_ = {};
};

}  // namespace tutti
