// SPDX-License-Identifier: Apache-2.0
// Networks on fields per token: what their values are, and what they refuse.
#include "tutti/graph/verify.h"
#include "tutti/nn/layer.h"

#include "expect_error.h"
#include "nn/run_net.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

NetInput token_input(Field::Unit answers) {
  return {.fields = with_capacity({{.name = "input", .dtype = DType::i32, .unit = Field::token},
                                   {.name = "labels", .dtype = DType::i32, .unit = answers},
                                   {.name = "lengths", .dtype = DType::i32},
                                   {.name = "kind", .dtype = DType::u8},
                                   {.name = "sizes", .shape = {2, 2}}},
                                  7),
          .classes = 3,
          .batch = 4};
}

Net chain(const NetInput& input, const std::vector<Settings>& tables) {
  return build_net(layers(), tables, input);
}

TEST(TokenNet, HasARowForEachToken) {
  const Net net = build_net(models().find("token_mlp"), {}, token_input(Field::token));
  verify(net.graph, "build");
  EXPECT_EQ(net.graph.shape(net.input), (Shape{4, 7}));
  EXPECT_EQ(net.graph.shape(net.field("weights")), (Shape{4, 7}));
  for (const ValueId id : {net.labels, net.weights}) EXPECT_EQ(net.graph.shape(id), Shape{28});
  EXPECT_EQ(net.graph.shape(net.output), (Shape{28, 3}));
}

// Embedding, a layer for each other field, two layers; whatever the capacity.
TEST(TokenNet, ParametersDoNotDependOnTheCapacity) {
  constexpr std::int64_t expected =
      20 * 16 + (1 + 1) * 16 + (4 + 1) * 16 + (16 + 1) * 32 + (32 + 1) * 3;
  for (const Field::Unit unit : {Field::sample, Field::token})
    for (const std::int64_t capacity : {1, 7, 30}) {
      NetInput input = token_input(unit);
      input.fields = with_capacity(input.fields, capacity);
      const Net net = build_net(models().find("token_mlp"), {}, input);
      EXPECT_EQ(net.table.parameters(true), expected);
      EXPECT_EQ(net.graph.shape(net.output)[0], unit == Field::token ? 4 * capacity : 4);
    }
}

TEST(TokenNet, TargetsMayBePerTokenToo) {
  NetInput input = token_input(Field::token);
  input.classes = 0;
  input.fields[1] = {.name = "targets", .shape = {5}, .unit = Field::token, .capacity = 7};
  const Net net = build_net(models().find("token_mlp"), {}, input);
  EXPECT_EQ(net.graph.shape(net.labels), (Shape{28, 5}));
  EXPECT_EQ(net.graph.shape(net.output), (Shape{28, 5}));
}

// The mean of (1, 2) over two tokens, and of three: padding does not count.
TEST(TokenNet, TheMeanLeavesPaddingOut) {
  NetInput input = token_input(Field::sample);
  input.fields[0] = {.name = "input", .shape = {3}, .unit = Field::token, .capacity = 7};
  input.dtype = DType::f64;
  Net net = chain(input, {{{"type", "token_mean"}}});
  contract::Values feeds;
  for (const ValueId id : net.graph.batch)
    feeds.insert_or_assign(id, contract::Array(net.graph.type(id)));
  for (std::int64_t i = 0; i < 84; ++i) feeds.at(net.input).set(i, static_cast<double>(i));
  const std::int64_t lengths[] = {7, 1, 2, 3};
  for (std::int64_t n = 0; n < 4; ++n)
    feeds.at(net.field("lengths")).set(n, static_cast<double>(lengths[n]));
  const contract::Array y = contract::evaluate(net.graph, feeds).at(net.output);
  for (std::int64_t n = 0; n < 4; ++n)
    for (std::int64_t k = 0; k < 3; ++k)
      EXPECT_NEAR(y.get(n * 3 + k),
                  static_cast<double>(n * 21 + k) + 3 * static_cast<double>(lengths[n] - 1) / 2,
                  1e-12);
}

TEST(TokenNet, RefusesWhatDoesNotFit) {
  const Settings embedding{{"type", "embedding"}, {"rows", 20}, {"width", 3}};
  expect_error([&] { chain(token_input(Field::sample), {embedding}); },
               {"the output is 4×7×3", "expected 4×3 (batch × classes)"});
  expect_error(
      [&] {
        chain(token_input(Field::token), {embedding, {{"type", "token_mean"}}});
      },
      {"the output is 4×3", "expected 28×3 (tokens of the batch × classes)"});
  const NetInput images{.fields = input_and_labels({7, 3}), .classes = 3};
  expect_error([&] { chain(images, {{{"type", "token_mean"}}}); }, {"1×7×3", "a field per token"});
  expect_error([&] { chain(images, {{{"type", "linear"}, {"units", 3}}}); }, {"flatten"});
  expect_error([&] { build_net(models().find("token_mlp"), {}, images); }, {"input is per sample"});
}

}  // namespace
}  // namespace tutti
