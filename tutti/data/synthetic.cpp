// SPDX-License-Identifier: Apache-2.0
// Classification: a sample is its class's centre plus noise, so the classes are clusters that can
// be learnt; sample i has class i mod classes. Regression: y = W x / √n + noise. Nothing is stored:
// an element costs one or two draws whenever it is read, whatever the number of samples.
#include "tutti/data/synthetic.h"

#include "tutti/core/rng.h"
#include "tutti/data/augment.h"

#include <cmath>

namespace tutti::data {
namespace {

enum Stream : std::uint64_t { centres, train_samples, test_samples, weights, target_noise };

// Nearly normal, mean 0, variance 1, within ±3.47: the sum of four 16-bit uniforms of one draw.
// Cheap enough to make batches of large images while training runs.
double bell(std::uint64_t key, std::uint64_t counter) {
  const std::uint64_t bits = draw(key, counter);
  const std::uint64_t sum =
      (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  constexpr double mean = 4 * 65535 / 2.0;
  const double deviation = 37837.22;  // √(4 (65536² − 1) / 12)
  return (static_cast<double>(sum) - mean) / deviation;
}

class Synthetic : public Dataset {
 public:
  Synthetic(const Settings& settings, Split split)
      : key_(mix(static_cast<std::uint64_t>(settings.integer("seed")))),
        samples_key_(fold(key_, split == Split::train ? train_samples : test_samples)),
        noise_(settings.real("noise")) {
    const std::int64_t targets = settings.integer("targets");
    name = "synthetic";
    count = settings.integer(split == Split::train ? "count" : "test_count");
    const Shape& shape = settings.integers("shape");
    if (shape.empty())
      throw Error("data set synthetic: 'shape' is empty, expected extents such as [1, 28, 28]");
    if (!is_countable(shape))
      throw Error(
          "data set synthetic: 'shape' is {}, more than the {} elements that a tensor may have",
          to_string(shape), most_elements);
    classes = targets > 0 ? 0 : settings.integer("classes");
    fields = targets > 0 ? input_and_targets(shape, {targets}) : input_and_labels(shape);
  }

  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    const std::int64_t per_sample = elements(sample_shape());
    dispatch_float(into.dtype, [&](auto zero) {
      using T = decltype(zero);
      auto* x = static_cast<T*>(into.fields[0]);
      auto* labels = static_cast<std::int32_t*>(classes > 0 ? into.fields[1] : nullptr);
      auto* targets = static_cast<T*>(classes > 0 ? nullptr : into.fields[1]);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        check(indices[i] >= 0 && indices[i] < count, "a sample index lies inside the data set");
        if (x != nullptr) fill(indices[i], x + i * per_sample);
        if (labels != nullptr) labels[i] = label(indices[i]);
        if (targets != nullptr) fill_targets(indices[i], targets + i * target_shape()[0]);
      }
    });
  }

 private:
  std::int32_t label(std::int64_t index) const {
    return static_cast<std::int32_t>(index % classes);
  }

  // Element j of regression sample `sample`, rounded to float as it is handed out.
  float input(std::uint64_t sample, std::int64_t j) const {
    return static_cast<float>(bell(sample, j));
  }

  template <class T>
  void fill(std::int64_t index, T* x) const {
    const std::uint64_t sample = fold(samples_key_, index);
    const std::int64_t n = elements(sample_shape());
    if (classes == 0) {
      for (std::int64_t j = 0; j < n; ++j) x[j] = input(sample, j);
      return;
    }
    const std::uint64_t centre = fold(fold(key_, centres), label(index));
    for (std::int64_t j = 0; j < n; ++j)
      x[j] = static_cast<float>(bell(centre, j) + noise_ * bell(sample, j));
  }

  template <class T>
  void fill_targets(std::int64_t index, T* targets) const {
    const std::uint64_t sample = fold(samples_key_, index);
    const std::int64_t n = elements(sample_shape()), outputs = target_shape()[0];
    for (std::int64_t k = 0; k < outputs; ++k) {
      const std::uint64_t row = fold(fold(key_, weights), k);
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += bell(row, j) * input(sample, j);
      targets[k] = static_cast<float>(sum / std::sqrt(static_cast<double>(n)) +
                                      noise_ * bell(fold(sample, target_noise), k));
    }
  }

  std::uint64_t key_, samples_key_;
  double noise_;
};

Setting integer(std::string name, std::int64_t initial, std::string doc, double min, double max) {
  return {
      .name = std::move(name), .initial = initial, .doc = std::move(doc), .min = min, .max = max};
}

}  // namespace

DatasetEntry synthetic() {
  constexpr double many = 1e15;
  return {.name = "synthetic",
          .doc =
              "random samples of any shape: a cluster per class, or a linear map when 'targets' is "
              "above 0",
          .settings =
              joined({{{.name = "shape",
                        .initial = std::vector<std::int64_t>{1, 28, 28},
                        .doc = "of one sample, channels first",
                        .min = 1,
                        .max = 1e9},
                       integer("classes", 10, "number of clusters", 1, 1e9),
                       integer("count", 1024, "training samples", 1, many),
                       integer("test_count", 256, "test samples", 1, many),
                       integer("seed", 0, "of the samples; other seeds, other clusters", 0, many),
                       {.name = "noise",
                        .initial = 0.5,
                        .doc = "standard deviation within a cluster (centres have 1), or of the "
                               "targets",
                        .min = 0},
                       integer("targets", 0, "numbers to predict; 0: classes instead", 0, 1e6)},
                      augmentation_settings()}),
          .open = [](const Settings& settings, Split split) -> std::unique_ptr<Dataset> {
            return std::make_unique<Synthetic>(settings, split);
          }};
}

}  // namespace tutti::data
