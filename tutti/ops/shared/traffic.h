// SPDX-License-Identifier: Apache-2.0
// The bytes that an operator moves when it reads each input that is given and writes each output
// once.
#pragma once

#include "tutti/graph/op.h"

#include <vector>

namespace tutti::ops {

// Whether optional input `i` is given; Graph::types describes an absent one by an empty Type.
inline bool present(const std::vector<Type>& in, std::size_t i) {
  return i < in.size() && !(in[i] == Type{});
}

inline std::vector<Type> types_of(const std::vector<Tensor>& tensors) {
  std::vector<Type> types;
  for (const Tensor& tensor : tensors) types.push_back({tensor.dtype, tensor.shape});
  return types;
}

// `cost` with the bytes of all inputs and outputs.
inline Cost with_traffic(Cost cost, const std::vector<Type>& in, const std::vector<Type>& out) {
  for (std::size_t i = 0; i < in.size(); ++i)
    if (present(in, i)) cost.bytes_read += static_cast<double>(in[i].bytes());
  for (const Type& type : out) cost.bytes_written += static_cast<double>(type.bytes());
  return cost;
}

}  // namespace tutti::ops
