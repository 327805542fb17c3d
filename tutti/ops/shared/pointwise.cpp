// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/pointwise.h"

#include "tutti/ops/shared/axis.h"

namespace tutti::ops {

std::vector<Type> infer_pointwise(const char* name, const std::vector<Type>& in) {
  for (const Type& type : in)
    if (!(type == in[0]))
      throw Error("[{}] inputs differ: {} {} and {} {}", name, name_of(in[0].dtype),
                  to_string(in[0].shape), name_of(type.dtype), to_string(type.shape));
  return {in[0]};
}

Cost cost_pointwise(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  Cost cost{.work = static_cast<double>(elements(out[0].shape)), .depth = 1};
  for (const Type& type : in) cost.bytes_read += static_cast<double>(type.bytes());
  cost.bytes_written = static_cast<double>(out[0].bytes());
  return cost;
}

std::string sharding_pointwise(const Settings&, const std::vector<Type>& in) {
  const std::string indices = dimension_indices(in[0].shape);
  std::string rule;
  for (std::size_t i = 0; i < in.size(); ++i) rule += fmt::format("x{}[{}] ", i, indices);
  return rule + fmt::format("-> y[{}]", indices);
}

std::vector<OpCase> cases_pointwise(int arity, const Settings& settings) {
  std::vector<OpCase> cases;
  for (const Shape& shape : {Shape{17}, Shape{4, 6}, Shape{2, 3, 4, 5}})
    cases.push_back(
        {settings, std::vector<Type>(static_cast<std::size_t>(arity), {DType::f64, shape})});
  return cases;
}

}  // namespace tutti::ops
