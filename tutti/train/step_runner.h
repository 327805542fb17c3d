// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a rank and reads their results. Where the device works on streams, the host
// launches some steps ahead of it and reads results that many steps later, the same number on all
// ranks.
#pragma once

#include "tutti/data/prefetch.h"
#include "tutti/data/sampler.h"
#include "tutti/optim/loss_scale.h"
#include "tutti/recipe/fault.h"
#include "tutti/train/replica.h"
#include "tutti/train/stop.h"
#include "tutti/train/svrg.h"
#include "tutti/train/training_run.h"
#include "tutti/train/variance_batch.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tutti {

// A step whose result has been read.
struct EndedStep {
  std::int64_t number = 0;   // updates done before this step
  std::int64_t samples = 0;  // of all ranks
  StepState state;
  StepResult result;
  std::int64_t sent_bytes = 0;  // by this rank to others since training began
};

class StepRunner {
 public:
  // Everything given must outlive this object; what sampler and limits say may change between
  // steps.
  StepRunner(const TrainingRun& run, Communicator& communicator, Replica& replica,
             const data::Sampler& sampler, const Limits& limits);

  // Prepares the local rule; called when the replica has its weights.
  void begin();
  // How the batches of the steps from this one on are read.
  data::PrefetchOptions reading(std::int64_t first_step) const;
  // Launches a step on the next batch. `begin_profile` is called when the batch has been read.
  void run(std::int64_t step, data::Prefetch& prefetch, bool may_postpone,
           const std::function<Profile*()>& begin_profile);
  // Waits for the result of the oldest step that has not been ended. Throws Error on all ranks when
  // a step was bad, naming the first operator whose result was not finite.
  EndedStep end_oldest();

  // Steps that were launched and not ended; and how many may stay so between two steps.
  std::size_t under_way() const { return launched_.size(); }
  std::size_t lag() const;

  LossScale& loss_scale() { return loss_scale_; }
  const LossScale& loss_scale() const { return loss_scale_; }
  std::optional<VarianceBatch>& variance() { return variance_; }
  const std::optional<VarianceBatch>& variance() const { return variance_; }

 private:
  struct Launched {
    std::int64_t number = 0;
    StepState state;
    double to_mean = 1;  // the factor by which loss and metric become means
    std::int64_t sent_bytes = 0;
  };

  StepState state_of(std::int64_t step) const;
  // The factor that makes means of this rank's loss and metric: it has `own_units` of `units`
  // samples, or tokens, of the batch.
  double factor_to_mean(std::int64_t units, std::int64_t own_units) const;
  // Throws the Error about `bad_step`; `result` is that of step `of_step`.
  [[noreturn]] void explain(std::int64_t bad_step, std::int64_t of_step, const StepResult& result);

  const TrainingRun& run_;
  Communicator& communicator_;
  Replica& replica_;
  const data::Sampler& sampler_;
  const Limits& limits_;
  const int micro_batches_;  // of a step
  const Fault fault_;
  LossScale loss_scale_;
  std::optional<Svrg> svrg_;
  std::optional<VarianceBatch> variance_;
  std::vector<Launched> launched_;  // the oldest first
};

}  // namespace tutti
