// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/field.h"

#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Field, OfASampleAreItsInputAndWhatIsPredicted) {
  const Fields classes = input_and_labels({3, 4}), numbers = input_and_targets({3, 4}, {2});
  EXPECT_EQ(classes, (Fields{{"input", DType::f32, {3, 4}}, {"labels", DType::i32, {}}}));
  EXPECT_EQ(numbers, (Fields{{"input", DType::f32, {3, 4}}, {"targets", DType::f32, {2}}}));
  EXPECT_NE(classes, numbers);
}

TEST(Field, OfABatchAreThoseOfItsSamplesAndWeights) {
  EXPECT_EQ(batch_fields(input_and_labels({5}), DType::f64),
            (Fields{{"input", DType::f64, {5}}, {"labels", DType::i32}, {"weights", DType::f64}}));
  expect_error(
      [] {
        batch_fields({{"input"}, {"weights"}}, DType::f32);
      },
      {"'weights'", "another name"});
}

TEST(Field, IsFoundByItsName) {
  const Fields fields = input_and_labels({5});
  EXPECT_TRUE(has_field(fields, "labels"));
  EXPECT_FALSE(has_field(fields, "targets"));
  EXPECT_EQ(index_of(fields, "labels"), 1u);
  EXPECT_EQ(field_named(fields, "input").shape, Shape{5});
  expect_error([&] { index_of(fields, "imput"); }, {"'imput'", "did you mean 'input'"});
  expect_error([&] { field_named(fields, "lengths"); },
               {"no field 'lengths'", "expected one of: input, labels"});
}

TEST(Field, BytesAreOfOneSample) {
  EXPECT_EQ(bytes_of(Field{"input", DType::f64, {3, 4}}), 96);
  EXPECT_EQ(bytes_of(Field{"labels", DType::i32}), 4);
  EXPECT_EQ(bytes_of(Field{"words", DType::i32, {}, Field::token, 7}), 28);
  EXPECT_EQ(bytes_of(Field{"bytes", DType::u8, {3}, Field::token, 7}), 21);
}

const Field word{"input", DType::i32, {}, Field::token, 7}, vector{"targets", DType::f32, {2}},
    lengths{"lengths", DType::i32};

TEST(Field, PerTokenHasRoomForTheCapacity) {
  EXPECT_EQ(sample_shape(word), Shape{7});
  EXPECT_EQ(sample_shape(Field{"x", DType::f32, {3, 2}, Field::token, 7}), (Shape{7, 3, 2}));
  EXPECT_EQ(sample_shape(vector), Shape{2});
  EXPECT_EQ(token_capacity({vector, word}), 7);
  EXPECT_EQ(token_capacity({vector}), 0);
  const Fields wider = with_capacity({vector, word}, 9);
  EXPECT_EQ(wider[0], vector);
  EXPECT_EQ(sample_shape(wider[1]), Shape{9});
}

TEST(Field, WeightsAreOfWhateverHasAnAnswer) {
  EXPECT_EQ(batch_fields({word, vector, lengths}, DType::f64).back(),
            (Field{"weights", DType::f64}));
  const Field tags{"labels", DType::i32, {}, Field::token, 7};
  EXPECT_EQ(batch_fields({word, tags, lengths}, DType::f64).back(),
            (Field{"weights", DType::f64, {}, Field::token, 7}));
  expect_error([&] { batch_fields({word, vector}, DType::f32); }, {"per token", "'lengths'"});
}

TEST(Field, PointersAreNullWhereNoneIsGiven) {
  float x = 0;
  std::int32_t label = 0;
  const PerField<void*> input{&x}, both{&x, &label};
  EXPECT_EQ(input[0], &x);
  EXPECT_EQ(input[1], nullptr);
  EXPECT_EQ(input.size(), 1u);
  PerField<const void*> more(both);
  more.add(&x);
  EXPECT_EQ(std::vector<const void*>(more.begin(), more.end()),
            (std::vector<const void*>{&x, &label, &x}));
}

TEST(Field, ThereAreFew) {
  PerField<void*> pointers;
  for (std::size_t i = 0; i < most_fields; ++i) pointers.add(nullptr);
  EXPECT_THROW(pointers.add(nullptr), std::logic_error);
}

}  // namespace
}  // namespace tutti
