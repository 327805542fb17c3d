// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/predict.h"

#include "tutti/data/prefetch.h"
#include "tutti/data/scaling.h"
#include "tutti/train/batch_pointers.h"
#include "tutti/train/replica_options.h"
#include "tutti/train/resume.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// Logits of one sample become probabilities.
void softmax(double* values, std::int64_t count) {
  const double largest = *std::max_element(values, values + count);
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += values[i] = std::exp(values[i] - largest);
  for (std::int64_t i = 0; i < count; ++i) values[i] /= sum;
}

// Runs `count` samples and appends their outputs.
template <class T>
void append_outputs(Replica& replica, const float* x, std::int64_t count, std::int64_t per_sample,
                    Predictions& into) {
  const std::vector<T> input(x, x + count * per_sample);
  // Labels or targets, and weights, of a loss that nobody reads: all are zero.
  const std::vector<T> nothing(
      static_cast<std::size_t>(count * std::max<std::int64_t>(into.outputs, 1)));
  std::vector<T> outputs(static_cast<std::size_t>(count * into.outputs));
  replica.predict(
      {.samples = count, .local = count, .fields = {input.data(), nothing.data(), nothing.data()}},
      outputs.data());
  into.values.insert(into.values.end(), outputs.begin(), outputs.end());
}

}  // namespace

Predictor::Predictor(const Job& job, TrainedNetwork network, const std::string& weights)
    : network_(std::move(network)),
      batch_(job.table("train").integer("evaluation_batch")),
      replica_(replica_options(
          job, {.fields = network_.fields, .classes = network_.classes, .dtype = job.dtype()},
          threads_per_rank(job, 1), nullptr)) {
  load_weights(weights, replica_);
}

Predictions Predictor::nothing_yet(std::int64_t samples) const {
  return {.samples = samples,
          .outputs = network_.classes > 0 ? network_.classes : elements(network_.target_shape()),
          .values = {},
          .classes = {}};
}

Predictions Predictor::operator()(const data::Dataset& dataset) {
  if (with_capacity(dataset.fields, 1) != with_capacity(network_.fields, 1))
    throw Error("the data has other fields than the network was trained on, expected the same");
  const data::Sampler sampler({.count = dataset.count,
                               .batch = std::min(batch_, dataset.count),
                               .order = data::Order::sequential});
  data::Prefetch prefetch(dataset, sampler,
                          {.dtype = replica_.dtype(), .end_step = sampler.steps_per_epoch()});
  Predictions result = nothing_yet(dataset.count);
  const Field& answers = answers_in(dataset.fields);
  const Buffer outputs(prefetch.capacity() * answers.capacity * result.outputs *
                       bytes_of(replica_.dtype()));
  for (std::int64_t step = 0; step < sampler.steps_per_epoch(); ++step) {
    const data::Batch& batch = prefetch.next();
    replica_.predict(pointers_of(batch), outputs.data());
    const std::int64_t room = answers.unit == Field::token ? batch.bucket : 1;
    for (std::int64_t i = 0; i < batch.count(); ++i) {
      const std::int64_t rows =
          answers.unit == Field::token ? dataset.tokens(sampler.position(step) + i) : 1;
      if (answers.unit == Field::token) result.tokens.push_back(rows);
      dispatch_float(replica_.dtype(), [&](auto zero) {
        const auto* row =
            reinterpret_cast<const decltype(zero)*>(outputs.data()) + i * room * result.outputs;
        result.values.insert(result.values.end(), row, row + rows * result.outputs);
      });
    }
    prefetch.release();
  }
  finish(result);
  return result;
}

Predictions Predictor::operator()(const std::vector<float>& x) {
  if (network_.fields.size() > 2 || !is_float(field_named(network_.fields, "input").dtype))
    throw Error(
        "the network takes {} fields, expected an input of floating-point numbers alone; predict "
        "the samples of its data set instead (tutti predict --test)",
        network_.fields.size() - 1);
  const std::int64_t per_sample = elements(network_.sample_shape());
  check(static_cast<std::int64_t>(x.size()) % per_sample == 0, "x holds whole samples");
  Predictions result = nothing_yet(static_cast<std::int64_t>(x.size()) / per_sample);
  for (std::int64_t first = 0; first < result.samples; first += batch_) {
    const std::int64_t count = std::min(batch_, result.samples - first);
    dispatch_float(replica_.dtype(), [&](auto zero) {
      append_outputs<decltype(zero)>(replica_, x.data() + first * per_sample, count, per_sample,
                                     result);
    });
  }
  finish(result);
  return result;
}

void Predictor::finish(Predictions& predictions) const {
  const std::int64_t outputs = predictions.outputs;
  const auto rows = static_cast<std::int64_t>(predictions.values.size()) / outputs;
  for (std::int64_t i = 0; i < rows; ++i) {
    double* values = predictions.values.data() + i * outputs;
    if (network_.classes == 0) {
      for (std::int64_t k = 0; k < outputs; ++k)
        values[k] = network_.target_scaling.undone(values[k], k);
    } else {
      softmax(values, outputs);
      predictions.classes.push_back(std::max_element(values, values + outputs) - values);
    }
  }
}

data::Fit fit_of(const Job& job) {
  const Settings& settings = job.table("data");
  return settings.has("fit") ? data::fit_named(settings.text("fit")) : data::Fit::stretch;
}

std::vector<float> samples_of(const Job& job, const TrainedNetwork& network,
                              const std::vector<data::Image>& images) {
  const Shape& shape = network.sample_shape();
  const data::ByteScaling scaled(network.scaling, shape);
  std::vector<float> samples(images.size() * static_cast<std::size_t>(elements(shape)));
  float* x = samples.data();
  for (const data::Image& image : images) {
    if (shape.size() != 3 || shape[0] != image.channels)
      throw Error("the image has {} channels, but the network was trained on samples of {}",
                  image.channels, to_string(shape));
    x = scaled.scale(data::fitted(image, shape[1], shape[2], fit_of(job)).pixels.data(), x);
  }
  return samples;
}

}  // namespace tutti
