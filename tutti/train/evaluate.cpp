// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/evaluate.h"

#include "tutti/comm/self.h"
#include "tutti/data/prefetch.h"
#include "tutti/train/batch_pointers.h"
#include "tutti/train/reading.h"
#include "tutti/train/replica_options.h"
#include "tutti/train/resume.h"
#include "tutti/train/trained_network.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

constexpr std::int64_t most_classes_counted = 2000;  // 32 MB of counts

// Counts for each sample or token its label and the class of its largest output (of equals, the
// first).
void count_answers(const data::Batch& batch, const Buffer& outputs, DType dtype,
                   Confusion& confusion) {
  const auto* labels = batch.as<std::int32_t>("labels");
  const std::int64_t rows = batch.count() * answers_in(batch.fields).capacity;
  dispatch_float(dtype, [&](auto zero) {
    const auto* row = reinterpret_cast<const decltype(zero)*>(outputs.data());
    const auto* weights = batch.as<decltype(zero)>("weights");
    for (std::int64_t i = 0; i < rows; ++i, row += confusion.classes)
      if (weights[i] > 0)  // the others are padding
        ++confusion.at(labels[i], std::max_element(row, row + confusion.classes) - row);
  });
}

std::vector<std::string> names_of_classes(const data::Dataset& dataset) {
  std::vector<std::string> names = dataset.class_names;
  if (names.empty())
    for (std::int64_t i = 0; i < dataset.classes; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace

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
                    Communicator& communicator, std::int64_t most_classes) {
  const Settings& train = job.table("train");
  const data::Sampler sampler({.count = dataset.count,
                               .batch = batch_for_ranks(train.integer("evaluation_batch"),
                                                        dataset.count, communicator.size()),
                               .order = data::Order::sequential});
  data::PrefetchOptions reading = reading_of(job, communicator);
  reading.weight = mean_weight;
  reading.end_step = sampler.steps_per_epoch();
  data::Prefetch prefetch(dataset, sampler, reading);
  double loss = 0, errors = 0;
  std::int64_t right = 0, units = 0;
  Confusion confusion(dataset.classes <= most_classes ? dataset.classes : 0);
  const std::int64_t rows = prefetch.capacity() * answers_in(dataset.fields).capacity;
  const Buffer outputs(rows * confusion.classes * bytes_of(replica.dtype()));
  for (std::int64_t step = 0; step < sampler.steps_per_epoch(); ++step) {
    const data::Batch& batch = prefetch.next();
    const StepResult result = confusion.classes > 0
                                  ? replica.predict(pointers_of(batch), outputs.data())
                                  : replica.evaluate(pointers_of(batch));
    if (confusion.classes > 0) count_answers(batch, outputs, replica.dtype(), confusion);
    units += batch.units;
    loss += result.loss * static_cast<double>(batch.units);
    const double metric = result.metric * static_cast<double>(batch.units);
    if (dataset.classes > 0)
      right += std::llround(metric);
    else
      errors += metric;
    prefetch.release();
  }
  const auto count = static_cast<double>(units);
  return {.loss = loss / count,
          .accuracy = static_cast<double>(right) / count,
          .absolute_error = errors / count,
          .samples = dataset.count,
          .class_names = names_of_classes(dataset),
          .confusion = summed(confusion, communicator)};
}

Evaluation evaluate(const Job& given, const std::string& weights, data::Split split) {
  const Job job = scaled_as_trained(given, weights);
  const auto dataset = open_data(job, split);
  require_trained_classes(*dataset, weights);
  const auto alone = self_communicator();
  Replica replica(
      replica_options(job, net_input(job, *dataset), threads_per_rank(job, 1), alone.get()));
  load_weights(weights, replica);
  return evaluate(job, replica, *dataset, *alone, most_classes_counted);
}

}  // namespace tutti
