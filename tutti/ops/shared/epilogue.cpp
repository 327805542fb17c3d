// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/epilogue.h"

namespace tutti::ops {

bool has_epilogue(const Settings& settings, const std::vector<Type>& in) {
  return present(in, bias_input) || present(in, residual_input) ||
         activation_of(settings) != Activation::none;
}

void check_epilogue(const char* name, const std::vector<Type>& in, const Type& y,
                    std::int64_t channels) {
  if (in.size() > 4)
    throw Error("[{}] has {} inputs, expected two factors and optionally a bias and a residual",
                name, in.size());
  if (present(in, bias_input) && in[bias_input] != Type{y.dtype, {channels}})
    throw Error("[{}] bias is {} {}, expected {} {}", name, name_of(in[bias_input].dtype),
                to_string(in[bias_input].shape), name_of(y.dtype), channels);
  if (present(in, residual_input) && in[residual_input] != y)
    throw Error("[{}] residual is {} {}, expected the type of the result, {} {}", name,
                name_of(in[residual_input].dtype), to_string(in[residual_input].shape),
                name_of(y.dtype), to_string(y.shape));
}

Cost add_epilogue(Cost cost, const Settings& settings, const std::vector<Type>& in, const Type& y) {
  const int parts = int{present(in, bias_input)} + int{present(in, residual_input)} +
                    int{activation_of(settings) != Activation::none};
  cost.work += parts * static_cast<double>(elements(y.shape));
  cost.depth += parts;
  return cost;
}

std::string epilogue_indices(const std::vector<Type>& in, const std::string& channel,
                             const std::string& y) {
  std::string rule;
  if (in.size() > bias_input)
    rule += fmt::format(" bias[{}]", present(in, bias_input) ? channel : "");
  if (in.size() > residual_input)
    rule += fmt::format(" residual[{}]", present(in, residual_input) ? y : "");
  return rule;
}

}  // namespace tutti::ops
