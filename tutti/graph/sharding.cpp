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

std::vector<std::string> merged_indices(std::string_view written) {
  constexpr std::string_view dot = "·";  // two bytes in UTF-8
  std::vector<std::string> indices;
  while (true) {
    const std::size_t end = written.find(dot);
    indices.emplace_back(written.substr(0, end));
    if (end == std::string_view::npos) return indices;
    written.remove_prefix(end + dot.size());
  }
}

std::string split_index(std::string_view written) {
  const std::string outermost = merged_indices(written)[0];
  return outermost == "*" || outermost.find('+') != std::string::npos ? "" : outermost;
}

}  // namespace tutti
