// SPDX-License-Identifier: Apache-2.0
// A sample is a list of named fields: what a data set reads, a batch holds and a network takes,
// always in the order of the list. A field has one tensor for each sample, or one for each token of
// a sample. With fields per token, samples have different lengths, which are the field "lengths".
// All samples have room for equally many tokens, the capacity; room that a sample does not fill is
// padding.
#pragma once

#include "tutti/core/dtype.h"
#include "tutti/core/shape.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct Field {
  enum Unit { sample, token };
  std::string name;
  DType dtype = DType::f32;   // f32 or f64: the reader chooses which; other types are fixed
  Shape shape = {};           // of one unit, channels first: {1, 28, 28}
  Unit unit = sample;         // each sample or each token has one tensor
  std::int64_t capacity = 1;  // units that a sample has room for; 1 where the unit is the sample
  bool operator==(const Field&) const = default;
};

using Fields = std::vector<Field>;

// The fields of a sample with one i32 label, and of a sample with numbers to predict.
Fields input_and_labels(Shape input);
Fields input_and_targets(Shape input, Shape targets);
// The fields of a batch: the fields of its samples, floating-point ones in `dtype`, and last
// "weights": the weight of each sample in the loss, or of each token where the answers are per
// token.
Fields batch_fields(Fields of_sample, DType dtype);

// The field that a network is to predict: "labels" or "targets".
const Field& answers_in(const Fields& fields);
// The tokens that a sample has room for; 0: no field is per token.
std::int64_t token_capacity(const Fields& fields);
// The same fields with room for `tokens` tokens in each sample.
Fields with_capacity(Fields fields, std::int64_t tokens);

bool has_field(const Fields& fields, std::string_view name);
// Both throw Error with a suggestion when there is no field of this name.
std::size_t index_of(const Fields& fields, std::string_view name);
const Field& field_named(const Fields& fields, std::string_view name);

// Shape and bytes of a field in one sample, padding included. The extent of tokens comes first.
Shape sample_shape(const Field& field);
std::int64_t bytes_of(const Field& field);

constexpr std::size_t most_fields = 8;

// A pointer for each field of a list, in the list's order. The pointers are kept in the object
// itself, so that a batch is handed on without allocating.
template <class Pointer>
class PerField {
 public:
  PerField() = default;
  PerField(std::initializer_list<Pointer> pointers) {
    for (const Pointer pointer : pointers) add(pointer);
  }
  template <class Other>
  explicit PerField(const PerField<Other>& others) {
    for (const Pointer pointer : others) add(pointer);
  }

  void add(Pointer pointer) {
    check(count_ < most_fields, "a sample has few fields");
    pointers_[count_++] = pointer;
  }
  // Null for a field without a pointer.
  Pointer operator[](std::size_t field) const {
    check(field < most_fields, "a sample has few fields");
    return pointers_[field];
  }
  std::size_t size() const { return count_; }
  const Pointer* begin() const { return pointers_.data(); }
  const Pointer* end() const { return pointers_.data() + count_; }

 private:
  std::array<Pointer, most_fields> pointers_ = {};
  std::size_t count_ = 0;
};

}  // namespace tutti
