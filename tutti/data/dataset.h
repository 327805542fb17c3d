// SPDX-License-Identifier: Apache-2.0
// A data set as training sees it: a count of samples of one shape, read by index into memory of the
// caller. What index i holds never changes, and is the same number in float and in double.
// A new data set is a file beside this and a line in datasets.cpp.
#pragma once

#include "tutti/core/dtype.h"
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

// Where samples are read to, densely, in the order of the indices. Null parts are not read.
struct Samples {
  DType dtype = DType::f32;        // of x and targets: f32 or f64
  void* x = nullptr;               // count × sample_shape
  std::int32_t* labels = nullptr;  // count, when the data set has classes
  void* targets = nullptr;         // count × target_shape, when it has none
};

class Dataset {
 public:
  std::string name;
  std::int64_t count = 0;
  Shape sample_shape;        // channels first: {1, 28, 28}
  std::int64_t classes = 0;  // 0: regression, then target_shape says what is predicted
  std::vector<std::string> class_names = {};  // of each class; empty: they have none but numbers
  Shape target_shape;
  Scaling scaling;         // that x has been through; predictions need the same
  Scaling target_scaling;  // of each target; predictions undo it

  virtual ~Dataset() = default;

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
