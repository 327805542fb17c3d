// SPDX-License-Identifier: Apache-2.0
// A data set as training sees it: a count of samples with the same fields, read by index into
// memory of the caller. The sample at an index never changes, and its numbers are equal in float
// and in double. A new data set is a file in this folder and an entry in datasets.cpp.
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

// The memory that samples are read into: each field densely, in the order of the indices.
struct Samples {
  DType dtype = DType::f32;     // of floating-point fields: f32 or f64
  PerField<void*> fields = {};  // one for each field of the data set; null: not read
  std::int64_t tokens = 0;      // room in each sample for fields per token; padding becomes zero
};

class Dataset {
 public:
  std::string name;
  std::int64_t count = 0;
  // The fields of a sample: "input", then "labels" or "targets", then any others. Where some fields
  // are per token, they have room for the largest bucket, and "lengths" is a field, too.
  Fields fields;
  std::vector<std::int64_t> buckets = {};     // see buckets.h; empty: no field is per token
  std::int64_t classes = 0;                   // labels are below this; 0: regression, with targets
  std::vector<std::string> class_names = {};  // of each class; empty: classes have numbers only
  Scaling scaling;                            // applied to the input; predictions need the same
  Scaling target_scaling;                     // applied to each target; predictions undo it

  virtual ~Dataset() = default;

  // The shape of the input, and of the targets. Throws Error where the data set has no targets.
  const Shape& sample_shape() const { return field_named(fields, "input").shape; }
  const Shape& target_shape() const { return field_named(fields, "targets").shape; }

  // The number of tokens of a sample. It is called for all samples of every batch, so it must be
  // fast.
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
