// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a rank and reads what they have found. Where the device works on streams, the
// host runs some steps ahead of it and reads their results that much later; ranks of one run are
// equally late.
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
  std::int64_t number = 0;   // updates done before it
  std::int64_t samples = 0;  // of all ranks
  StepState state;
  StepResult result;
  std::int64_t sent_bytes = 0;  // by this rank to others, in the whole run so far
};

class StepRunner {
 public:
  // Everything given must outlive this object; what sampler and limits say may change between
  // steps.
  StepRunner(const TrainingRun& run, Communicator& communicator, Replica& replica,
             const data::Sampler& sampler, const Limits& limits);

  // When the replica has its weights: what the local rule needs is made from them.
  void begin();
  // How the batches of the steps from this one on are read.
  data::PrefetchOptions reading(std::int64_t first_step) const;
  // Launches a step on the next batch. `begin_profile` is asked when that has been read.
  void run(std::int64_t step, data::Prefetch& prefetch, bool may_postpone,
           const std::function<Profile*()>& begin_profile);
  // The oldest step whose result has not been read; waits for it. Throws Error when a step was bad,
  // naming the first operator whose result was not finite: every rank does then.
  EndedStep end_oldest();

  // Steps that were run and not ended; and how many of them may stay so between two steps.
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
    double mean = 1;  // the factor by which loss and metric become means
    std::int64_t sent_bytes = 0;
  };

  StepState state_of(std::int64_t step) const;
  // Of the whole batch: what its part of loss and metric is to be multiplied by.
  double factor_to_mean(std::int64_t units, std::int64_t own_units) const;
  // `result` is of the step `of_step`.
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
