// SPDX-License-Identifier: Apache-2.0
// SVRG (I22; Johnson and Zhang 2013): steps along ∇f_i(w) − ∇f_i(w̃) + μ̃, where w̃ is a snapshot of
// the weights and μ̃ the gradient over the whole data there. Its mean is the full gradient, and its
// variance falls to zero on the way to the optimum, so that a constant rate converges.
#pragma once

#include "tutti/train/replica.h"
#include "tutti/train/training_run.h"

#include <cstdint>
#include <memory>

namespace tutti {

// Makes what the local rule `svrg` of the step reads: the snapshot, the full gradient there, and
// this rank's gradient of a step's samples there. They are vectors of the replica behind the states
// of the rule; checkpoints hold the first two.
class Svrg {
 public:
  // Everything given must outlive this object.
  Svrg(const TrainingRun& run, Communicator& communicator, Replica& replica);

  // By all ranks before the step of a batch; when one is due, a new snapshot comes first.
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
  std::shared_ptr<std::byte> statistics_;  // of layers at the snapshot, to be forgotten
};

}  // namespace tutti
