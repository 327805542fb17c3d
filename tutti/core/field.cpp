// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/field.h"

#include "tutti/core/nearest.h"

#include <algorithm>

namespace tutti {
namespace {

auto found(const Fields& fields, std::string_view name) {
  return std::find_if(fields.begin(), fields.end(),
                      [&](const Field& field) { return field.name == name; });
}

}  // namespace

Fields input_and_labels(Shape input) {
  return {{.name = "input", .shape = std::move(input)}, {.name = "labels", .dtype = DType::i32}};
}

Fields input_and_targets(Shape input, Shape targets) {
  return {{.name = "input", .shape = std::move(input)},
          {.name = "targets", .shape = std::move(targets)}};
}

Fields batch_fields(Fields fields, DType dtype) {
  if (has_field(fields, "weights"))
    throw Error(
        "the data set has a field 'weights', expected another name: in a batch that is the weight "
        "of each sample in the loss");
  fields.push_back({.name = "weights"});
  for (Field& field : fields)
    if (is_float(field.dtype)) field.dtype = dtype;
  return fields;
}

bool has_field(const Fields& fields, std::string_view name) {
  return found(fields, name) != fields.end();
}

std::size_t index_of(const Fields& fields, std::string_view name) {
  const auto place = found(fields, name);
  if (place != fields.end()) return static_cast<std::size_t>(place - fields.begin());
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  throw Error("there is no field '{}'{}", name, suggestion(name, names));
}

const Field& field_named(const Fields& fields, std::string_view name) {
  return fields[index_of(fields, name)];
}

std::int64_t bytes_of(const Field& field) {
  check(field.unit == Field::sample, "a sample has as many bytes as any other");
  return elements(field.shape) * bytes_of(field.dtype);
}

}  // namespace tutti
