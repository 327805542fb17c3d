// SPDX-License-Identifier: Apache-2.0
// A perceptron on tokens that uses all fields of the data. Tokens become rows of an embedding. The
// context of a sample is the mean of these rows plus a linear layer of each other field of the
// sample. Where there is an answer for each token, every token sees the context; where there is one
// for each sample, the answer is computed from the context.
#include "tutti/nn/layer.h"
#include "tutti/nn/models/models.h"
#include "tutti/ops/add.h"
#include "tutti/ops/length_mask.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/reshape.h"

namespace tutti::nn {
namespace {

// Whether a field of the batch holds numbers of a sample to learn from.
bool is_feature(const Field& field) {
  return field.unit == Field::sample && field.name != "input" && field.name != "lengths" &&
         field.name != "labels" && field.name != "targets" && field.name != "weights";
}

ValueId sum(Net& net, const std::string& name, ValueId a, ValueId b) {
  return net.layer(name, "add", [&] { return net.graph.add1(ops::add, {a, b}); });
}

// The context of a sample for each of its tokens: c[n,w] becomes y[n,t,w], 0 in the padding.
ValueId for_tokens(Net& net, ValueId c) {
  const std::int64_t tokens = token_capacity(net.fields), width = net.graph.shape(c)[1];
  return net.layer("context", "matmul", [&] {
    Graph& graph = net.graph;
    const auto shaped = [&](ValueId value, const Shape& wanted) {
      return graph.add1(ops::reshape, {value}, {{"shape", wanted}});
    };
    const ValueId mask =
        graph.add1(ops::length_mask, {net.field("lengths")},
                   {{"tokens", tokens}, {"dtype", std::string(name_of(net.dtype))}});
    return graph.add1(ops::matmul, {shaped(mask, {0, tokens, 1}), shaped(c, {0, 1, width})});
  });
}

ValueId build(Net& net, ValueId x, const Settings& settings) {
  if (field_named(net.fields, "input").unit != Field::token)
    throw Error("the input is per sample, expected one value for each token");
  const std::int64_t width = settings.integer("width");
  x = net.apply(embedding, x, {{"rows", settings.integer("vocabulary")}, {"width", width}});
  ValueId context = net.apply(token_mean, x);
  for (const Field& field : net.fields) {
    if (!is_feature(field)) continue;
    const ValueId numbers = net.apply(flatten, net.real_field(field.name));
    context = sum(net, "with_" + field.name, context,
                  net.apply(linear, numbers, {{"name", field.name}, {"units", width}}));
  }
  const bool per_token = answers_in(net.fields).unit == Field::token;
  x = per_token ? sum(net, "with_context", x, for_tokens(net, context)) : context;
  x = net.apply(relu, net.apply(linear, x, {{"units", settings.integer("hidden")}}));
  x = net.apply(dropout, x, {{"rate", settings.real("dropout")}});
  return net.apply(linear, x, {{"units", elements(net.output_shape)}});
}

}  // namespace

const Model token_mlp{
    .name = "token_mlp",
    .doc = "a perceptron on tokens and on the other fields of a sample",
    .settings =
        {{.name = "vocabulary",
          .initial = std::int64_t{20},
          .doc = "tokens are below it",
          .min = 1},
         {.name = "width", .initial = std::int64_t{16}, .doc = "of a token's vector", .min = 1},
         {.name = "hidden", .initial = std::int64_t{32}, .doc = "units between", .min = 1},
         {.name = "dropout",
          .initial = 0.0,
          .doc = "part of the hidden units that is dropped in training",
          .min = 0,
          .max = 0.99}},
    .build = build,
};

}  // namespace tutti::nn
