// SPDX-License-Identifier: Apache-2.0
// Reads a tensor of f32 or f64 as doubles.
#pragma once

#include "tutti/core/tensor.h"

namespace tutti::ops {

// The elements of a tensor of f32 or f64, converted to double one by one.
class Doubles {
 public:
  explicit Doubles(const Tensor& tensor) : data_(tensor.data), wide_(tensor.dtype == DType::f64) {}
  double operator[](std::int64_t i) const {
    return wide_ ? static_cast<const double*>(data_)[i]
                 : static_cast<double>(static_cast<const float*>(data_)[i]);
  }

 private:
  const void* data_;
  bool wide_;
};

}  // namespace tutti::ops
