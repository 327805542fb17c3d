// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/svrg.h"

#include "tutti/data/prefetch.h"
#include "tutti/train/batch_pointers.h"
#include "tutti/train/evaluate.h"

#include <algorithm>

namespace tutti {
namespace {

// Two passes over the data, unless the recipe says otherwise.
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
  const auto allocate = replica.device().allocate;
  const auto bytes = [&](const RangeTable& table) {
    return std::max<std::int64_t>(table.count(), 1) * bytes_of(replica.dtype());
  };
  gradient_ = allocate(bytes(replica.table()));
  statistics_ = allocate(bytes(replica.layer_state_table()));
}

StepResult Svrg::step(const BatchPointers& batch, const StepState& state) {
  if (state.step % period_ == 0) take_snapshot(state);
  replica_.gradient(batch, state, snapshot(), gradient_.get(), statistics_.get());
  const StepResult here = replica_.gradient(batch, state, replica_.weights(), replica_.gradients(),
                                            replica_.layer_state());
  std::vector<double> g = read(replica_.gradients());
  const std::vector<double> there = read(gradient_.get()), mean = read(full_gradient());
  for (std::size_t i = 0; i < g.size(); ++i) g[i] += mean[i] - there[i];
  write(replica_.gradients(), g);
  StepResult result = replica_.update(batch, state);
  result.loss = here.loss;
  return result;
}

void Svrg::take_snapshot(const StepState& state) {
  write(snapshot(), read(replica_.weights()));
  const data::Dataset& dataset = run_.training;
  const Settings& train = run_.job.table("train");
  const data::Sampler sampler({.count = dataset.count,
                               .batch = batch_for_ranks(train.integer("evaluation_batch"),
                                                        dataset.count, communicator_.size()),
                               .order = data::Order::sequential});
  data::Prefetch prefetch(dataset, sampler,
                          {.dtype = replica_.dtype(),
                           .rank = communicator_.rank(),
                           .ranks = communicator_.size(),
                           .depth = static_cast<int>(train.integer("prefetch")),
                           .threads = static_cast<int>(train.integer("readers")),
                           .end_step = sampler.steps_per_epoch()});
  std::vector<double> mean(static_cast<std::size_t>(replica_.table().count()));
  for (std::int64_t step = 0; step < sampler.steps_per_epoch(); ++step) {
    const data::Batch& batch = prefetch.next();
    StepState own = state;
    own.first_sample = batch.share.first;
    replica_.gradient(pointers_of(batch), own, snapshot(), gradient_.get(), statistics_.get());
    const std::vector<double> g = read(gradient_.get());
    const double part = static_cast<double>(batch.total) / static_cast<double>(dataset.count);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += part * g[i];
    prefetch.release();
  }
  write(full_gradient(), mean);
}

std::vector<double> Svrg::read(const void* vector) const {
  const std::int64_t count = replica_.table().count();
  return dispatch_float(replica_.dtype(), [&](auto zero) {
    std::vector<decltype(zero)> values(static_cast<std::size_t>(count));
    replica_.device().copy_out(values.data(), vector,
                               count * static_cast<std::int64_t>(sizeof zero));
    return std::vector<double>(values.begin(), values.end());
  });
}

void Svrg::write(void* vector, const std::vector<double>& values) const {
  dispatch_float(replica_.dtype(), [&](auto zero) {
    std::vector<decltype(zero)> narrow(values.size());
    std::transform(values.begin(), values.end(), narrow.begin(),
                   [](double value) { return static_cast<decltype(zero)>(value); });
    replica_.device().copy_in(vector, narrow.data(),
                              static_cast<std::int64_t>(narrow.size() * sizeof zero));
  });
}

}  // namespace tutti
