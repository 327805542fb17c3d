// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/predict.h"

#include "tutti/data/scaling.h"
#include "tutti/train/resume.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

namespace tutti {
namespace {

Shape shape_in(const std::string& text) {
  std::istringstream in(text);
  Shape shape;
  for (std::int64_t extent = 0; in >> extent;) shape.push_back(extent);
  return shape;
}

std::vector<double> numbers_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<double> numbers;
  for (double number = 0; in >> number;) numbers.push_back(number);
  return numbers;
}

std::string name_of_weights(std::string weights) {
  if (constexpr std::string_view ending = ".safetensors"; weights.ends_with(ending))
    weights.resize(weights.size() - ending.size());
  return weights;
}

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
  replica.predict({.samples = count,
                   .local = count,
                   .x = input.data(),
                   .labels = nothing.data(),
                   .weights = nothing.data()},
                  outputs.data());
  into.values.insert(into.values.end(), outputs.begin(), outputs.end());
}

}  // namespace

NetInput trained_input(const Job& job, const std::string& weights) {
  const std::string name = name_of_weights(weights);
  if (!std::filesystem::exists(name + ".state"))
    return net_input(job, *open_data(job, data::Split::train));
  const CheckpointState state = read_checkpoint_state(name);
  const auto note = [&](const char* key) {
    const auto found = state.notes.find(key);
    return shape_in(found == state.notes.end() ? "" : found->second);
  };
  const Shape classes = note("classes");
  if (classes.empty() || note("sample_shape").empty())
    throw Error("{}.state does not say what the network was trained on", name);
  return {.sample_shape = note("sample_shape"),
          .classes = classes[0],
          .target_shape = note("target_shape"),
          .dtype = job.dtype()};
}

data::Scaling trained_scaling(const Job& job, const std::string& weights) {
  const std::string name = name_of_weights(weights);
  if (!std::filesystem::exists(name + ".state")) return open_data(job, data::Split::train)->scaling;
  const CheckpointState state = read_checkpoint_state(name);
  const auto mean = state.notes.find("mean"), std = state.notes.find("std");
  if (mean == state.notes.end() || std == state.notes.end())
    throw Error("{}.state does not say how samples were scaled", name);
  return {.mean = numbers_in(mean->second), .std = numbers_in(std->second)};
}

Predictions predict(const Job& job, const std::string& weights, const std::vector<float>& x) {
  const NetInput input = trained_input(job, weights);
  const std::int64_t per_sample = elements(input.sample_shape);
  check(static_cast<std::int64_t>(x.size()) % per_sample == 0, "x holds whole samples");
  Replica replica(replica_options(job, input, threads_per_rank(job, 1), nullptr));
  load_weights(weights, replica);
  Predictions result{.samples = static_cast<std::int64_t>(x.size()) / per_sample,
                     .outputs = input.classes > 0 ? input.classes : elements(input.target_shape),
                     .values = {},
                     .classes = {}};
  const std::int64_t batch = job.table("train").integer("evaluation_batch");
  for (std::int64_t first = 0; first < result.samples; first += batch) {
    const std::int64_t count = std::min(batch, result.samples - first);
    dispatch_float(job.dtype(), [&](auto zero) {
      append_outputs<decltype(zero)>(replica, x.data() + first * per_sample, count, per_sample,
                                     result);
    });
  }
  if (input.classes == 0) return result;
  for (std::int64_t i = 0; i < result.samples; ++i) {
    double* values = result.values.data() + i * result.outputs;
    softmax(values, result.outputs);
    result.classes.push_back(std::max_element(values, values + result.outputs) - values);
  }
  return result;
}

data::Fit fit_of(const Job& job) {
  const Settings& settings = job.table("data");
  return settings.has("fit") ? data::fit_named(settings.text("fit")) : data::Fit::stretch;
}

std::vector<float> samples_of(const Job& job, const std::string& weights,
                              const std::vector<data::Image>& images) {
  const Shape shape = trained_input(job, weights).sample_shape;
  const data::ByteScaling scaled(trained_scaling(job, weights), shape);
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
