// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/scaling.h"

#include "tutti/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti::data {
namespace {

std::int64_t channels_of(const Shape& sample) { return sample.empty() ? 1 : sample[0]; }

// A channel that never changes is only shifted.
double usable(double deviation) { return deviation > 1e-12 ? deviation : 1; }

// The scaling measured on the training part, for a part whose samples must have the same shape.
Scaling measured_for(Split split, const OpenScaled& open) {
  const std::unique_ptr<Dataset> training = open(Split::train, {}), part = open(split, {});
  if (training->sample_shape() != part->sample_shape())
    throw Error("training samples are {} but test samples are {}, expected the same",
                to_string(training->sample_shape()), to_string(part->sample_shape()));
  return measure_scaling(*training);
}

}  // namespace

void Scaling::require_fit(const Shape& sample) const {
  for (const auto& [values, name] : {std::pair{&mean, "mean"}, {&std, "std"}})
    if (values->size() != 1 && static_cast<std::int64_t>(values->size()) != channels_of(sample))
      throw Error("'{}' has {} numbers, expected 1, or {} for samples of {}", name, values->size(),
                  channels_of(sample), to_string(sample));
}

std::vector<Setting> scaling_settings(std::vector<double> mean, std::vector<double> std) {
  return {{.name = "mean",
           .initial = std::move(mean),
           .doc = "subtracted from pixels in [0, 1] or numbers, one or one per channel; []: "
                  "measured on the training data"},
          {.name = "std",
           .initial = std::move(std),
           .doc = "divides pixels or numbers after 'mean' is subtracted; []: measured",
           .min = 1e-12}};
}

std::vector<Setting> target_scaling_settings() {
  return {{.name = "target_mean",
           .initial = std::vector<double>{},
           .doc = "subtracted from numbers to predict, one or one per target; []: measured on the "
                  "training data; 0 with target_std 1: they stay as they are"},
          {.name = "target_std",
           .initial = std::vector<double>{},
           .doc = "divides numbers to predict after 'target_mean' is subtracted; []: measured",
           .min = 1e-12}};
}

std::optional<Scaling> given_scaling(const Settings& settings, const std::string& prefix) {
  const std::string mean = prefix + "mean", std = prefix + "std";
  if (!settings.has(mean)) return Scaling{};
  const bool no_mean = settings.reals(mean).empty(), no_std = settings.reals(std).empty();
  if (no_mean != no_std)
    throw Error("'{}' is empty (measured) but '{}' is given, expected both or neither",
                no_mean ? mean : std, no_mean ? std : mean);
  if (no_mean) return std::nullopt;
  return Scaling{.mean = settings.reals(mean), .std = settings.reals(std)};
}

std::unique_ptr<Dataset> open_scaled(const Settings& settings, Split split,
                                     const OpenScaled& open) {
  const std::optional<Scaling> given = given_scaling(settings, "");
  const Scaling scaling = given ? *given : measured_for(split, open);
  std::unique_ptr<Dataset> dataset = open(split, scaling);
  dataset->scaling = scaling;
  return dataset;
}

Scaling measure_scaling(const Dataset& unscaled) {
  constexpr std::int64_t most = 4096;
  const std::int64_t count = std::min(unscaled.count, most),
                     channels = channels_of(unscaled.sample_shape()),
                     plane = elements(unscaled.sample_shape()) / channels;
  std::vector<double> x(static_cast<std::size_t>(channels * plane));
  // Welford's method, a sample at a time: the means so far, and the sums of squared distances from
  // these means.
  std::vector<double> mean(static_cast<std::size_t>(channels)), squares(mean.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t index = i * (unscaled.count / count) + i * (unscaled.count % count) / count;
    unscaled.read({&index, 1}, {.dtype = DType::f64, .fields = {x.data()}});
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto from = x.begin() + c * plane, to = from + plane;
      double sum = 0, around = 0;
      for (auto value = from; value != to; ++value) sum += *value;
      const double own = sum / static_cast<double>(plane);
      for (auto value = from; value != to; ++value) around += (*value - own) * (*value - own);
      const double apart = own - mean[c], seen = static_cast<double>(i);
      mean[c] += apart / (seen + 1);
      squares[c] += around + apart * apart * static_cast<double>(plane) * seen / (seen + 1);
    }
  }
  for (double& deviation : squares)
    deviation = usable(std::sqrt(deviation / static_cast<double>(count * plane)));
  return {.mean = std::move(mean), .std = std::move(squares)};
}

Scaling measure_columns(std::int64_t rows, std::int64_t columns,
                        const std::function<double(std::int64_t, std::int64_t)>& at) {
  Scaling scaling{.mean = {}, .std = {}};
  for (std::int64_t column = 0; column < columns; ++column) {
    double mean = 0, squares = 0, seen = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const double value = at(row, column), apart = value - mean;
      if (std::isnan(value)) continue;
      ++seen;
      mean += apart / seen;
      squares += apart * (value - mean);
    }
    scaling.mean.push_back(seen > 0 ? mean : std::numeric_limits<double>::quiet_NaN());
    scaling.std.push_back(usable(std::sqrt(squares / seen)));
  }
  return scaling;
}

ByteScaling::ByteScaling(const Scaling& scaling, const Shape& sample)
    : tables_(static_cast<std::size_t>(channels_of(sample))),
      plane_(elements(sample) / channels_of(sample)) {
  scaling.require_fit(sample);
  for (std::size_t c = 0; c < tables_.size(); ++c)
    for (int value = 0; value < 256; ++value)
      tables_[c][value] = scaling(value / 255.0, static_cast<std::int64_t>(c));
}

}  // namespace tutti::data
