// SPDX-License-Identifier: Apache-2.0
// How values become inputs: (value − mean) / std, for each channel of a sample (its first extent);
// pixels are brought to [0, 1] before. Computed in double and rounded to float once, so that
// training in float and in double reads the same numbers.
#pragma once

#include "tutti/core/settings.h"
#include "tutti/core/shape.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tutti::data {

class Dataset;
enum class Split;

// One entry for all channels, or one for each.
struct Scaling {
  std::vector<double> mean = {0};
  std::vector<double> std = {1};

  float operator()(double value, std::int64_t channel = 0) const {
    return static_cast<float>((value - at(mean, channel)) / at(std, channel));
  }
  // The value that scaling made this of.
  double undone(double scaled, std::int64_t channel = 0) const {
    return scaled * at(std, channel) + at(mean, channel);
  }
  // Throws Error unless there is one number, or one for each channel of such samples.
  void require_fit(const Shape& sample) const;

 private:
  static double at(const std::vector<double>& values, std::int64_t channel) {
    return values[values.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
  }
};

// The settings 'mean' and 'std'; both empty: measured.
std::vector<Setting> scaling_settings(std::vector<double> mean, std::vector<double> std);
// 'target_mean' and 'target_std' of the numbers to predict, in the same way.
std::vector<Setting> target_scaling_settings();

// What the settings give under these names, with the prefix "" or "target_"; none: they ask for it
// to be measured. Data sets without the settings don't scale.
std::optional<Scaling> given_scaling(const Settings& settings, const std::string& prefix);

using OpenScaled = std::function<std::unique_ptr<Dataset>(Split, const Scaling&)>;

// Opens a part of a data set with the scaling that its settings give or ask to be measured.
std::unique_ptr<Dataset> open_scaled(const Settings& settings, Split split, const OpenScaled& open);

// Mean and standard deviation of each channel over all samples, or over 4,096 spread evenly where
// there are more. A channel that never changes gets the deviation 1.
Scaling measure_scaling(const Dataset& unscaled);

// The same of each column of a table, over all rows in which its number is not NaN; the mean is NaN
// where there are none.
Scaling measure_columns(std::int64_t rows, std::int64_t columns,
                        const std::function<double(std::int64_t, std::int64_t)>& at);

// Bytes to inputs: the scaled value of each byte, for each channel.
class ByteScaling {
 public:
  ByteScaling(const Scaling& scaling, const Shape& sample);

  // Writes the inputs of the sample at `bytes` and returns where the next one begins.
  template <class T>
  T* scale(const std::uint8_t* bytes, T* x) const {
    for (const std::array<float, 256>& scaled : tables_)
      for (std::int64_t i = 0; i < plane_; ++i) *x++ = scaled[*bytes++];
    return x;
  }

 private:
  std::vector<std::array<float, 256>> tables_;  // of each channel
  std::int64_t plane_ = 0;                      // bytes of a channel
};

}  // namespace tutti::data
