// SPDX-License-Identifier: Apache-2.0
// Two .npy files as a data set: samples in one, labels or targets in the other.
#include "tutti/data/augment.h"
#include "tutti/data/npy.h"
#include "tutti/data/split.h"

#include <cmath>
#include <numeric>

namespace tutti::data {
namespace {

void check_labels(const NpyFile& y, std::int64_t classes, const std::string& file) {
  if (y.is_real())
    throw Error("{}: labels are floating-point numbers, expected integers <i4, <i8, |u1 or |b1",
                file);
  y.visit([&](auto labels) {
    for (std::int64_t i = 0; i < y.shape()[0]; ++i)
      if (const auto label = static_cast<std::int64_t>(labels[i]); label < 0 || label >= classes)
        throw Error("{}: label {} at position {}, expected 0 to {}", file, label, i, classes - 1);
  });
}

class Npy : public Dataset {
 public:
  Npy(const std::string& x_file, const std::string& y_file, std::int64_t class_count,
      const Scaling& scaled_by)
      : x_(x_file), y_(y_file), scaled_by_(scaled_by) {
    name = "npy";
    const Shape inputs = npy_sample_shape(x_, x_file);
    scaled_by.require_fit(inputs);
    classes = class_count;
    const Shape& targets = y_.shape();
    if (targets.empty() || targets[0] != x_.shape()[0])
      throw Error("{} is an array of {} but {} has {} samples; expected equally many", y_file,
                  to_string(targets), x_file, x_.shape()[0]);
    const std::int64_t outputs = elements(targets, 1, targets.size());
    if (classes > 0 && outputs != 1)
      throw Error("{} is an array of {}, expected one label for each sample", y_file,
                  to_string(targets));
    if (classes > 0) check_labels(y_, classes, y_file);
    fields = classes > 0 ? input_and_labels(inputs) : input_and_targets(inputs, {outputs});
    members_.resize(static_cast<std::size_t>(targets[0]));
    std::iota(members_.begin(), members_.end(), 0);
    count = targets[0];
  }

  std::int64_t rows() const { return x_.shape()[0]; }
  // From now on the samples are these rows only.
  void keep(std::vector<std::int64_t> members) {
    members_ = std::move(members);
    count = static_cast<std::int64_t>(members_.size());
  }

  // The scaling measured on the targets of the rows that are kept.
  Scaling measured_targets() const {
    Scaling measured;
    const std::int64_t targets = target_shape()[0];
    y_.visit([&](auto values) {
      measured = measure_columns(count, targets, [&](std::int64_t i, std::int64_t target) {
        const std::int64_t row = members_[static_cast<std::size_t>(i)];
        return static_cast<double>(values[row * targets + target]);
      });
    });
    return measured;
  }
  void scale_targets(const Scaling& by) {
    by.require_fit(target_shape());
    target_scaling = by;
  }

  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    dispatch_float(into.dtype, [&](auto zero) {
      using T = decltype(zero);
      auto* x = static_cast<T*>(into.fields[0]);
      auto* labels = static_cast<std::int32_t*>(classes > 0 ? into.fields[1] : nullptr);
      auto* targets = static_cast<T*>(classes > 0 ? nullptr : into.fields[1]);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        check(indices[i] >= 0 && indices[i] < count, "a sample index lies inside the data set");
        const std::int64_t row = members_[static_cast<std::size_t>(indices[i])];
        if (x != nullptr) x = read_inputs(row, x);
        if (labels != nullptr)
          y_.visit([&](auto y) { labels[i] = static_cast<std::int32_t>(y[row]); });
        if (targets != nullptr) targets = read_targets(row, targets);
      }
    });
  }

 private:
  // Both read one sample and return where the next one begins.
  template <class T>
  T* read_inputs(std::int64_t row, T* x) const {
    const Shape& shape = sample_shape();
    const std::int64_t channels = shape[0], plane = elements(shape) / channels;
    x_.visit([&](auto values) {
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t i = 0; i < plane; ++i)
          x[c * plane + i] =
              scaled_by_(static_cast<double>(values[(row * channels + c) * plane + i]), c);
    });
    return x + channels * plane;
  }

  template <class T>
  T* read_targets(std::int64_t row, T* targets) const {
    const std::int64_t outputs = target_shape()[0];
    y_.visit([&](auto values) {
      for (std::int64_t i = 0; i < outputs; ++i)
        targets[i] = target_scaling(static_cast<double>(values[row * outputs + i]), i);
    });
    return targets + outputs;
  }

  NpyFile x_, y_;
  Scaling scaled_by_;
  std::vector<std::int64_t> members_;  // the row of each sample
};

std::unique_ptr<Dataset> open_npy(const Settings& settings, Split split) {
  const std::string &test_x = settings.text("test_x"), &test_y = settings.text("test_y");
  if (test_x.empty() != test_y.empty())
    throw Error("'test_x' and 'test_y' belong together, expected both or neither");
  const auto open_part = [&](Split part, const Scaling& scaling) {
    const bool own_file = part == Split::test && !test_x.empty();
    auto data = std::make_unique<Npy>(own_file ? test_x : settings.text("x"),
                                      own_file ? test_y : settings.text("y"),
                                      settings.integer("classes"), scaling);
    if (test_x.empty()) data->keep(members_of(data->rows(), settings, part));
    return data;
  };
  const std::optional<Scaling> given = given_scaling(settings, "target_");
  return open_scaled(settings, split, [&](Split part, const Scaling& scaling) {
    auto data = open_part(part, scaling);
    if (data->classes == 0)
      data->scale_targets(given ? *given : open_part(Split::train, {})->measured_targets());
    return data;
  });
}

Setting npy_path(std::string name, std::string doc, bool required) {
  return {.name = std::move(name),
          .initial = std::string(),
          .doc = std::move(doc),
          .required = required};
}

}  // namespace

DatasetEntry npy() {
  const std::vector<Setting> own = {
      npy_path("x", ".npy file of inputs: samples × features, or × channels × height × width",
               true),
      npy_path("y", ".npy file of labels, or of numbers to predict: samples × targets", true),
      npy_path("test_x", ".npy file of test inputs; empty: a fraction of 'x'", false),
      npy_path("test_y", ".npy file of test labels, or of numbers to predict", false),
      {.name = "classes",
       .initial = std::int64_t{0},
       .doc = "number of classes, y being labels below it; 0: regression",
       .min = 0,
       .max = 1 << 24}};
  return {.name = "npy",
          .doc = "arrays in NumPy's .npy files, for classes or for regression",
          .settings = joined({own, split_settings(), scaling_settings({}, {}),
                              target_scaling_settings(), augmentation_settings()}),
          .open = open_npy};
}

}  // namespace tutti::data
