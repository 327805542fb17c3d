// SPDX-License-Identifier: Apache-2.0
// A data set as training sees it: a count of samples with the same fields, read by index into
// memory of the caller. What index i holds never changes, and is the same number in float and in
// double. A new data set is a file beside this and a line in datasets.cpp.
#pragma once

#include "tutti/core/dtype.h"
#include "tutti/core/field.h"
#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/core/shape.h"
#include "tutti/data/scaling.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tutti::data {

// Where samples are read to: each field densely, in the order of the indices.
struct Samples {
  DType dtype = DType::f32;     // of floating-point fields: f32 or f64
  PerField<void*> fields = {};  // of the data set, in its order; null: not read
  std::int64_t tokens = 0;      // room in each sample of a field per token; the rest becomes zero
};

class Dataset {
 public:
  std::string name;
  std::int64_t count = 0;
  // Of a sample: "input", then "labels" or "targets", then any others. Where some are per token,
  // "lengths" is one of them, and all of these have room for the largest bucket.
  Fields fields;
  std::vector<std::int64_t> buckets = {};  // see buckets.h; empty: no field is per token
  std::int64_t classes = 0;  // that labels are below; 0: regression, there are targets
  std::vector<std::string> class_names = {};  // of each class; empty: they have none but numbers
  Scaling scaling;         // that the input has been through; predictions need the same
  Scaling target_scaling;  // of each target; predictions undo it

  virtual ~Dataset() = default;

  // Of the input, and of the targets where there are any.
  const Shape& sample_shape() const { return field_named(fields, "input").shape; }
  const Shape& target_shape() const { return field_named(fields, "targets").shape; }

  // The tokens of a sample, which is asked for all samples of every batch.
  virtual std::int64_t tokens(std::int64_t /*index*/) const { return 0; }

  // Reads the samples at `indices`, each in [0, count). Several threads may read at once.
  virtual void read(std::span<const std::int64_t> indices, const Samples& into) const = 0;
};

enum class Split { train, test };

struct DatasetEntry {
  std::string name;
  std::string doc;
  std::vector<Setting> settings = {};
  // `settings` are resolved. Throws Error when files are missing, damaged or don't fit together.
  std::function<std::unique_ptr<Dataset>(const Settings&, Split)> open = {};
};

List<DatasetEntry> datasets();

}  // namespace tutti::data
