// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/step_runner.h"

#include "tutti/core/rng.h"
#include "tutti/train/bad_step.h"
#include "tutti/train/batch_pointers.h"
#include "tutti/train/reading.h"

namespace tutti {

StepRunner::StepRunner(const TrainingRun& run, Communicator& communicator, Replica& replica,
                       const data::Sampler& sampler, const Limits& limits)
    : run_(run),
      communicator_(communicator),
      replica_(replica),
      sampler_(sampler),
      limits_(limits),
      micro_batches_(static_cast<int>(run.job.table("train").integer("accumulate"))),
      fault_(fault_named(run.job.table("machine").text("fault"))),
      loss_scale_(run.job.table("train"), run.job.table("kernels").text("precision")) {
  launched_.reserve(staging_slots);
  const Settings& optimizer = run.job.table("optimizer");
  if (optimizer.real("batch_from_variance") > 0)
    variance_.emplace(optimizer, run.job.table("train").integer("batch"), replica, communicator);
}

void StepRunner::begin() {
  if (run_.job.local_rule.name == "svrg") svrg_.emplace(run_, communicator_, replica_);
}

// A result that the next step depends on is read at once.
std::size_t StepRunner::lag() const {
  const bool at_once = replica_.device().host || micro_batches_ > 1 || loss_scale_.active() ||
                       svrg_ || variance_ || !run_.job.scheme.gate.meets;
  return at_once ? 0 : staging_slots - 2;
}

data::PrefetchOptions StepRunner::reading(std::int64_t first_step) const {
  data::PrefetchOptions options = reading_of(run_.job, communicator_);
  options.micro_batches = micro_batches_;
  options.augmentation = data::augmentation_of(run_.job.table("data"));
  options.first_step = first_step;
  if (const std::int64_t end = limits_.total_steps(); end > 0) options.end_step = end;
  return options;
}

StepState StepRunner::state_of(std::int64_t step) const {
  return {.step = step,
          .key = fold(fold(0, sampler_.sampling().seed), static_cast<std::uint64_t>(step)),
          .rate = rate_at(run_.job.schedule, run_.job.table("optimizer"), step,
                          limits_.total_steps(), sampler_.sampling().batch),
          .loss_scale = loss_scale_.scale(),
          .skipped = loss_scale_.skipped()};
}

// Ranks that meet have summed their losses and metrics in the step.
double StepRunner::factor_to_mean(std::int64_t units, std::int64_t own_units) const {
  if (run_.job.scheme.gate.meets || own_units == 0) return 1;
  return static_cast<double>(units) / static_cast<double>(own_units);
}

void StepRunner::run(std::int64_t step, data::Prefetch& prefetch, bool may_postpone,
                     const std::function<Profile*()>& begin_profile) {
  StepState state = state_of(step);
  Profile* profile = nullptr;
  std::int64_t units = 0, own_units = 0;
  for (int micro_batch = 0; micro_batch < micro_batches_; ++micro_batch) {
    communicator_.set_doing("reading a batch");
    const data::Batch& batch = prefetch.next();
    if (micro_batch == 0 && !run_.resume) fault_.strike(communicator_.rank(), step);
    if (micro_batch == 0) profile = begin_profile();
    state.origins[StepState::samples] = batch.share.first;
    units = batch.units;
    own_units += batch.own_units;
    const BatchPointers pointers = pointers_of(batch);
    if (svrg_) svrg_->before_step(pointers, state);
    replica_.run_step(pointers, state, profile, may_postpone);
    if (micro_batch + 1 == micro_batches_) {
      launched_.push_back(
          {step, state, factor_to_mean(units, own_units), communicator_.sent_bytes()});
      if (lag() > 0) replica_.post_result();
    } else {
      const StepResult so_far = replica_.result();
      if (so_far.bad_step >= 0) explain(so_far.bad_step, step, so_far);
      if (variance_) variance_->after_micro_batch(batch, state.loss_scale);
    }
    prefetch.release();
  }
}

EndedStep StepRunner::end_oldest() {
  const Launched own = launched_.front();
  launched_.erase(launched_.begin());
  StepResult result = lag() > 0 ? replica_.take_result() : replica_.result();
  if (result.bad_step >= 0) explain(result.bad_step, own.number, result);
  if (!loss_scale_.after_step(!result.skipped)) explain(own.number, own.number, result);
  result.loss *= own.to_mean;
  result.metric *= own.to_mean;
  return {own.number, sampler_.batch(own.number), own.state, result, own.sent_bytes};
}

void StepRunner::explain(std::int64_t bad_step, std::int64_t of_step, const StepResult& result) {
  explain_bad_step(replica_, run_.training, sampler_, reading(bad_step), state_of(bad_step),
                   bad_step == of_step ? &result : nullptr);
}

}  // namespace tutti
