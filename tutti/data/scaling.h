// SPDX-License-Identifier: Apache-2.0
// How values become inputs: (value − mean) / std, for each channel of a sample (its first extent);
// pixels are brought to [0, 1] before. Inputs are computed in double and rounded to float once, so
// that training in float and in double reads the same numbers.
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

// Mean and standard deviation: one entry for all channels, or one for each.
struct Scaling {
  std::vector<double> mean = {0};
  std::vector<double> std = {1};

  float operator()(double value, std::int64_t channel = 0) const {
    return static_cast<float>((value - at(mean, channel)) / at(std, channel));
  }
  // The value that was scaled to `scaled`.
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

// The settings 'mean' and 'std' with these defaults; where both are empty, they are measured.
std::vector<Setting> scaling_settings(std::vector<double> mean, std::vector<double> std);
// The settings 'target_mean' and 'target_std' of the numbers to predict, measured by default.
std::vector<Setting> target_scaling_settings();

// The scaling that the settings 'mean' and 'std' give, with the prefix "" or "target_" before their
// names; nothing when it is to be measured. Without these settings, values stay as they are.
std::optional<Scaling> given_scaling(const Settings& settings, const std::string& prefix);

// Opens a part of a data set with a scaling.
using OpenScaled = std::function<std::unique_ptr<Dataset>(Split, const Scaling&)>;

// Opens a part of a data set with the scaling that its settings give, or else one that is measured
// on the training part.
std::unique_ptr<Dataset> open_scaled(const Settings& settings, Split split, const OpenScaled& open);

// Mean and standard deviation of each channel over all samples, or over 4,096 spread evenly where
// there are more. A channel that never changes gets the deviation 1.
Scaling measure_scaling(const Dataset& unscaled);

// The same for each column of a table with the numbers at(row, column), over all rows whose number
// is not NaN; the mean is NaN where there are no such rows.
Scaling measure_columns(std::int64_t rows, std::int64_t columns,
                        const std::function<double(std::int64_t, std::int64_t)>& at);

// Turns bytes into inputs by a table of the 256 scaled values for each channel.
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
