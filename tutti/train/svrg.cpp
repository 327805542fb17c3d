// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/svrg.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/train/batch_pointers.h"
#include "tutti/train/evaluate.h"
#include "tutti/train/reading.h"

#include <algorithm>

namespace tutti {
namespace {

// Steps from one snapshot to the next: those of two epochs, unless the recipe says otherwise.
std::int64_t period_of(const Job& job, const data::Dataset& dataset) {
  const std::int64_t given = job.table("optimizer").integer("snapshot_every");
  const std::int64_t batch = job.table("train").integer("batch");
  return given > 0 ? given : std::max<std::int64_t>(2 * dataset.count / batch, 1);
}

}  // namespace

Svrg::Svrg(const TrainingRun& run, Communicator& communicator, Replica& replica)
    : run_(run),
      communicator_(communicator),
      replica_(replica),
      period_(period_of(run.job, run.training)) {
  const std::int64_t count = std::max<std::int64_t>(replica.layer_state_table().count(), 1);
  statistics_ = replica.device().allocate(count * bytes_of(replica.dtype()));
}

void Svrg::before_step(const BatchPointers& batch, const StepState& state) {
  if (state.step % period_ == 0) take_snapshot(state);
  replica_.gradient(
      batch, state,
      {.weights = snapshot(), .gradients = gradient_there(), .layer_state = statistics_.get()});
}

void Svrg::take_snapshot(const StepState& state) {
  const Device& device = replica_.device();
  const Buffer weights(replica_.table().count() * bytes_of(replica_.dtype()));
  device.copy_out(weights.data(), replica_.weights(), weights.bytes());
  device.copy_in(snapshot(), weights.data(), weights.bytes());
  const Buffer zeros(weights.bytes());
  device.copy_in(full_gradient(), zeros.data(), zeros.bytes());
  const data::Dataset& dataset = run_.training;
  const data::Sampler sampler(
      {.count = dataset.count,
       .batch = batch_for_ranks(run_.job.table("train").integer("evaluation_batch"), dataset.count,
                                communicator_.size()),
       .order = data::Order::sequential});
  data::PrefetchOptions reading = reading_of(run_.job, communicator_);
  reading.end_step = sampler.steps_per_epoch();
  // Samples weigh so much that the sum over all batches is the mean over the data.
  reading.weight = [of_batch = reading.weight, count = static_cast<double>(dataset.count)](
                       std::int64_t own, std::int64_t all) {
    return of_batch(own, all) * static_cast<double>(all) / count;
  };
  data::Prefetch prefetch(dataset, sampler, reading);
  for (std::int64_t step = 0; step < sampler.steps_per_epoch(); ++step) {
    const data::Batch& batch = prefetch.next();
    StepState own = state;
    own.origins[StepState::samples] = batch.share.first;
    BatchPointers pointers = pointers_of(batch);
    pointers.accumulation.adds = true;
    replica_.gradient(
        pointers, own,
        {.weights = snapshot(), .gradients = full_gradient(), .layer_state = statistics_.get()});
    prefetch.release();
  }
  if (communicator_.size() > 1) sum_over_ranks(full_gradient());
}

void Svrg::sum_over_ranks(void* vector) const {
  const Device& device = replica_.device();
  const std::int64_t count = replica_.table().count();
  const Buffer host(count * bytes_of(replica_.dtype()));
  device.copy_out(host.data(), vector, host.bytes());
  const CollectiveArgs args{.dtype = replica_.dtype(),
                            .count = count,
                            .tag = communicator_.tags().of({.what = "the full gradient"}),
                            .fixed_order = replica_.fixed_order(),
                            .what = "the full gradient"};
  const auto sum = choose(allreduces(), "auto", communicator_, args).make(communicator_, args);
  sum->start(host.data());
  wait(*sum, communicator_);
  device.copy_in(vector, host.data(), host.bytes());
}

}  // namespace tutti
