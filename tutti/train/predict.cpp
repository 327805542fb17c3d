// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/predict.h"

#include "tutti/data/scaling.h"
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
  // Of the loss that nobody looks at: zero labels or targets, and no weight.
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

Predictions Predictor::operator()(const std::vector<float>& x) {
  const std::int64_t per_sample = elements(network_.sample_shape());
  check(static_cast<std::int64_t>(x.size()) % per_sample == 0, "x holds whole samples");
  Predictions result{
      .samples = static_cast<std::int64_t>(x.size()) / per_sample,
      .outputs = network_.classes > 0 ? network_.classes : elements(network_.target_shape()),
      .values = {},
      .classes = {}};
  for (std::int64_t first = 0; first < result.samples; first += batch_) {
    const std::int64_t count = std::min(batch_, result.samples - first);
    dispatch_float(replica_.dtype(), [&](auto zero) {
      append_outputs<decltype(zero)>(replica_, x.data() + first * per_sample, count, per_sample,
                                     result);
    });
  }
  for (std::int64_t i = 0; i < result.samples; ++i) {
    double* values = result.values.data() + i * result.outputs;
    if (network_.classes == 0) {
      for (std::int64_t k = 0; k < result.outputs; ++k)
        values[k] = network_.target_scaling.undone(values[k], k);
    } else {
      softmax(values, result.outputs);
      result.classes.push_back(std::max_element(values, values + result.outputs) - values);
    }
  }
  return result;
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
