// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/evaluate.h"

#include "tutti/comm/self.h"
#include "tutti/data/prefetch.h"
#include "tutti/train/batch_pointers.h"
#include "tutti/train/resume.h"
#include "tutti/train/trained_network.h"

#include <algorithm>
#include <cmath>

namespace tutti {

std::int64_t batch_for_ranks(std::int64_t wanted, std::int64_t count, int ranks) {
  if (count < ranks)
    throw Error(
        "the data set has {} samples, expected at least one for each of {} "
        "ranks; reduce partition.data",
        count, ranks);
  std::int64_t batch = std::max<std::int64_t>(std::min(wanted, count), ranks);
  while (count % batch != 0 && count % batch < ranks) ++batch;
  return batch;
}

Evaluation evaluate(const Job& job, Replica& replica, const data::Dataset& dataset,
                    Communicator& communicator) {
  const Settings& train = job.table("train");
  const data::Sampler sampler({.count = dataset.count,
                               .batch = batch_for_ranks(train.integer("evaluation_batch"),
                                                        dataset.count, communicator.size()),
                               .order = data::Order::sequential});
  data::Prefetch prefetch(dataset, sampler,
                          {.dtype = replica.dtype(),
                           .rank = communicator.rank(),
                           .ranks = communicator.size(),
                           .depth = static_cast<int>(train.integer("prefetch")),
                           .threads = static_cast<int>(train.integer("readers")),
                           .end_step = sampler.steps_per_epoch()});
  double loss = 0, errors = 0;
  std::int64_t right = 0;
  for (std::int64_t step = 0; step < sampler.steps_per_epoch(); ++step) {
    const data::Batch& batch = prefetch.next();
    const StepResult result = replica.evaluate(pointers_of(batch));
    loss += result.loss * static_cast<double>(batch.total);
    const double metric = result.metric * static_cast<double>(batch.total);
    if (dataset.classes > 0)
      right += std::llround(metric);
    else
      errors += metric;
    prefetch.release();
  }
  const auto count = static_cast<double>(dataset.count);
  return {.loss = loss / count,
          .accuracy = static_cast<double>(right) / count,
          .absolute_error = errors / count,
          .samples = dataset.count};
}

Evaluation evaluate(const Job& given, const std::string& weights, data::Split split) {
  const Job job = scaled_as_trained(given, weights);
  const auto dataset = open_data(job, split);
  require_trained_classes(*dataset, weights);
  const auto alone = self_communicator();
  Replica replica(
      replica_options(job, net_input(job, *dataset), threads_per_rank(job, 1), alone.get()));
  load_weights(weights, replica);
  return evaluate(job, replica, *dataset, *alone);
}

}  // namespace tutti
