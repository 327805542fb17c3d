// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/shape.h"

namespace tutti {

bool is_countable(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count) || count > most_elements) return false;
  return true;
}

std::string to_string(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (std::int64_t extent : shape) text += (text.empty() ? "" : "×") + std::to_string(extent);
  return text;
}

}  // namespace tutti
