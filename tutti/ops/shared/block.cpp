// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/block.h"

#include <utility>

namespace tutti::ops {

std::vector<Setting> block_settings() {
  return {{.name = "offset",
           .initial = std::int64_t{0},
           .doc = "first element in the flat vector",
           .min = 0,
           .required = true},
          {.name = "count",
           .initial = std::int64_t{0},
           .doc = "elements, gaps included",
           .min = 0,
           .required = true},
          {.name = "dtype",
           .initial = std::string("f32"),
           .doc = "element type",
           .choices = {"f32", "f64"}}};
}

Type joined_block(const char* op, const Settings& settings, const std::vector<Type>& in) {
  const Type block{dtype_named(settings.text("dtype")), {settings.integer("count")}};
  for (const Type& type : in)
    if (type.dtype != block.dtype)
      throw Error("[{}] a gradient is {}, expected {}", op, name_of(type.dtype),
                  name_of(block.dtype));
  return block;
}

std::vector<Setting> part_settings(Setting count) {
  count.min = 0;
  count.required = true;
  return {{.name = "axes", .initial = std::string(), .doc = "mesh axes", .required = true},
          {.name = "part_offset",
           .initial = std::int64_t{0},
           .doc = "first element of the block that is this rank's own",
           .min = 0,
           .required = true},
          std::move(count)};
}

void require_part(const char* op, std::int64_t offset, const Shape& part, const Shape& block) {
  if (part.size() != 1 || block.size() != 1 || offset + part[0] > block[0])
    throw Error("[{}] a part {} at element {} is not inside the block {}", op, to_string(part),
                offset, to_string(block));
}

}  // namespace tutti::ops
