// SPDX-License-Identifier: Apache-2.0
// Training that begins from weights of another run or tool (A05): train.from.
#pragma once

#include "tutti/core/dtype.h"
#include "tutti/core/flat.h"

#include <string>
#include <vector>

namespace tutti {

// A flat vector in host memory, laid out by its table.
struct HostVector {
  const RangeTable* table = nullptr;
  void* values = nullptr;
};

// Copies the tensors of a safetensors file (`path` is NAME or NAME.safetensors) into the ranges of
// the same name and shape, converted to `dtype`; leaves the other ranges as they are. Returns lines
// for people: what was loaded, what has another shape, what is missing, what is not used. Throws
// Error where no tensor matches.
std::vector<std::string> load_matching(const std::string& path, DType dtype,
                                       const std::vector<HostVector>& into);

}  // namespace tutti
