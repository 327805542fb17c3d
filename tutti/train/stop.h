// SPDX-License-Identifier: Apache-2.0
// When a run ends (A06): steps, epochs, wall time, a target metric, or a signal. The conditions are
// looked at after every step, by rank 0, which tells the others.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/train/evaluate.h"
#include "tutti/train/train.h"

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

// Whether the run is over after `steps` steps and `seconds`. `evaluation` is of these very weights,
// or nullptr.
std::optional<Stop> reached(const Limits& limits, std::int64_t steps, double seconds,
                            const Evaluation* evaluation, int signal);

// Rank 0's decision after a step, on all ranks. Rank 0 waits for nobody: its messages of a step are
// taken before the peers can take part in the next.
class CommonStop {
 public:
  explicit CommonStop(Communicator& communicator);
  ~CommonStop();
  CommonStop(const CommonStop&) = delete;
  CommonStop& operator=(const CommonStop&) = delete;

  // `own` counts on rank 0 only.
  std::optional<Stop> share(std::optional<Stop> own);

 private:
  Communicator& communicator_;
  std::vector<Request> requests_;  // of rank 0, one per peer
  std::array<std::int32_t, 2> word_ = {};
};

}  // namespace tutti
