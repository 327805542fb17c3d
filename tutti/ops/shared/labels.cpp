// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/labels.h"

namespace tutti::ops {

void check_labelled(const char* name, const std::vector<Type>& in) {
  check(in.size() >= 3, "logits, labels and weights are given");
  const Type &logits = in[0], &labels = in[1], &weights = in[2];
  if (!is_float(logits.dtype) || logits.shape.size() != 2)
    throw Error("[{}] logits are {} {}, expected floating-point samples × classes", name,
                name_of(logits.dtype), to_string(logits.shape));
  const Shape samples{logits.shape[0]};
  if (labels.dtype != DType::i32 || labels.shape != samples)
    throw Error("[{}] labels are {} {}, expected i32 {} for logits {}", name, name_of(labels.dtype),
                to_string(labels.shape), to_string(samples), to_string(logits.shape));
  if (weights.dtype != logits.dtype || weights.shape != samples)
    throw Error("[{}] sample weights are {} {}, expected {} {}", name, name_of(weights.dtype),
                to_string(weights.shape), name_of(logits.dtype), to_string(samples));
}

std::int64_t label_at(const char* name, const Tensor& labels, std::int64_t n,
                      std::int64_t classes) {
  const std::int64_t label = labels.as<std::int32_t>()[n];
  if (label < 0 || label >= classes)
    throw Error("[{}] sample {} has label {}, expected 0 to {}", name, n, label, classes - 1);
  return label;
}

}  // namespace tutti::ops
