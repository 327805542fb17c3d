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

const Field& answers_in(const Fields& fields) {
  return field_named(fields, has_field(fields, "labels") ? "labels" : "targets");
}

std::int64_t token_capacity(const Fields& fields) {
  std::int64_t capacity = 0;
  for (const Field& field : fields)
    if (field.unit == Field::token) {
      check(capacity == 0 || capacity == field.capacity, "fields per token have one capacity");
      capacity = field.capacity;
    }
  return capacity;
}

Fields with_capacity(Fields fields, std::int64_t tokens) {
  for (Field& field : fields)
    if (field.unit == Field::token) field.capacity = tokens;
  return fields;
}

Fields batch_fields(Fields fields, DType dtype) {
  if (has_field(fields, "weights"))
    throw Error(
        "the data set has a field 'weights', expected another name: in a batch that is the weight "
        "of each sample in the loss");
  if (token_capacity(fields) > 0 &&
      (!has_field(fields, "lengths") ||
       field_named(fields, "lengths") != Field{.name = "lengths", .dtype = DType::i32}))
    throw Error(
        "a field of the data set is per token, expected also a field 'lengths', i32 and per "
        "sample: how many tokens a sample has");
  const Field answers = answers_in(fields);
  fields.push_back({.name = "weights", .unit = answers.unit, .capacity = answers.capacity});
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

Shape sample_shape(const Field& field) {
  if (field.unit == Field::sample) return field.shape;
  Shape shape{field.capacity};
  shape.insert(shape.end(), field.shape.begin(), field.shape.end());
  return shape;
}

std::int64_t bytes_of(const Field& field) {
  return field.capacity * elements(field.shape) * bytes_of(field.dtype);
}

}  // namespace tutti
