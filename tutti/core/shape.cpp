// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/shape.h"

namespace tutti {

std::string to_string(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (std::int64_t extent : shape) text += (text.empty() ? "" : "×") + std::to_string(extent);
  return text;
}

}  // namespace tutti
