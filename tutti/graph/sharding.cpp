// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/sharding.h"

#include "tutti/core/error.h"

namespace tutti {

ShardingRule parse_sharding(std::string_view notation) {
  ShardingRule rule;
  bool after_arrow = false;
  std::vector<std::string>* dimensions = nullptr;
  std::string index;
  const auto finish_index = [&] {
    if (!index.empty()) dimensions->push_back(index);
    index.clear();
  };
  for (const char c : notation) {
    if (c == '>') after_arrow = true;
    if (c == '[') {
      auto& tensors = after_arrow ? rule.outputs : rule.inputs;
      dimensions = &tensors.emplace_back();
    } else if (c == ']') {
      finish_index();
      dimensions = nullptr;
    } else if (dimensions != nullptr) {
      if (c == ',')
        finish_index();
      else
        index += c;
    }
  }
  check(dimensions == nullptr && after_arrow, "a sharding rule reads 'x[a,b] … -> y[a]'");
  return rule;
}

}  // namespace tutti
