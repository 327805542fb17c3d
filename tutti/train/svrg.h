// SPDX-License-Identifier: Apache-2.0
// SVRG (I22; Johnson and Zhang 2013): steps along ∇f_i(w) − ∇f_i(w̃) + μ̃, where w̃ is a snapshot of
// the weights and μ̃ the gradient over the whole data there. Its mean is the full gradient, and its
// variance falls to zero on the way to the optimum, so that a constant rate converges.
#pragma once

#include "tutti/train/replica.h"
#include "tutti/train/training_run.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tutti {

// Stands between the worker and its replica. w̃ and μ̃ are the replica's last two state vectors
// (svrg_states): checkpoints hold them.
class Svrg {
 public:
  // Everything given must outlive this object.
  Svrg(const TrainingRun& run, Communicator& communicator, Replica& replica);

  // One update; when one is due, a new snapshot comes first.
  StepResult step(const BatchPointers& batch, const StepState& state);

 private:
  void take_snapshot(const StepState& state);
  void* snapshot() const { return replica_.state(replica_.states() - 2); }
  void* full_gradient() const { return replica_.state(replica_.states() - 1); }
  std::vector<double> read(const void* vector) const;
  void write(void* vector, const std::vector<double>& values) const;

  const TrainingRun& run_;
  Communicator& communicator_;
  Replica& replica_;
  std::int64_t period_;                               // steps from one snapshot to the next
  std::shared_ptr<std::byte> gradient_, statistics_;  // at the snapshot; the latter to be forgotten
};

}  // namespace tutti
