// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/message.h"

#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {

Setting axes_setting() {
  return {.name = "axes", .initial = std::string(), .doc = "mesh axes", .required = true};
}

Cost message_cost(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  return with_traffic({.depth = 1}, in, out);
}

}  // namespace tutti::ops
