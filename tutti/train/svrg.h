// SPDX-License-Identifier: Apache-2.0
// SVRG (I22; Johnson and Zhang 2013): steps along ∇f_i(w) − ∇f_i(w̃) + μ̃, where w̃ is a snapshot of
// the weights and μ̃ is the gradient over all the data at w̃. The mean of this direction is the
// full gradient, and its variance falls to zero on the way to the optimum, so that a constant rate
// converges.
#pragma once

#include "tutti/train/replica.h"
#include "tutti/train/training_run.h"

#include <cstdint>
#include <memory>

namespace tutti {

// Makes what the local rule `svrg` of a step reads: the snapshot, the full gradient at the
// snapshot, and this rank's gradient of the step's samples at the snapshot. They are vectors of the
// replica behind the states of the update rule; checkpoints hold the first two.
class Svrg {
 public:
  // Everything given must outlive this object.
  Svrg(const TrainingRun& run, Communicator& communicator, Replica& replica);

  // Takes a snapshot when one is due, and the gradient of the batch at the snapshot. All ranks call
  // this before each step.
  void before_step(const BatchPointers& batch, const StepState& state);

 private:
  void take_snapshot(const StepState& state);
  void sum_over_ranks(void* vector) const;
  void* snapshot() const { return replica_.state(replica_.states() - 2); }
  void* full_gradient() const { return replica_.state(replica_.states() - 1); }
  void* gradient_there() const { return replica_.state(replica_.states()); }

  const TrainingRun& run_;
  Communicator& communicator_;
  Replica& replica_;
  std::int64_t period_;                    // steps from one snapshot to the next
  std::shared_ptr<std::byte> statistics_;  // layer state of runs at the snapshot, never read again
};

}  // namespace tutti
