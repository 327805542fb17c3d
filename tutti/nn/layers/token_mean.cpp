// SPDX-License-Identifier: Apache-2.0
// The mean over the tokens of a sample: y[n,…] = Σ_t x[n,t,…] / length[n] over the tokens that it
// has, computed as a product of matrices.
#include "tutti/nn/layer.h"
#include "tutti/ops/length_mask.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/reshape.h"

namespace tutti::nn {
namespace {

ValueId apply(Net& net, ValueId x, const Settings&) {
  Graph& graph = net.graph;
  const Shape shape = graph.shape(x);
  const std::int64_t tokens = token_capacity(net.fields);
  if (tokens == 0 || shape.size() < 2 || shape[1] != tokens)
    throw Error("the input is {}, expected batch × tokens × …, of data with a field per token",
                to_string(shape));
  const auto shaped = [&](ValueId value, const Shape& wanted) {
    return graph.add1(ops::reshape, {value}, {{"shape", wanted}});
  };
  const ValueId mask =
      graph.add1(ops::length_mask, {net.field("lengths")},
                 {{"tokens", tokens}, {"mean", true}, {"dtype", std::string(name_of(net.dtype))}});
  const ValueId mean =
      graph.add1(ops::matmul, {shaped(mask, {0, 1, tokens}), shaped(x, {0, tokens, -1})});
  Shape back(shape.begin() + 1, shape.end());
  back[0] = 0;
  return shaped(mean, back);
}

}  // namespace

const Layer token_mean{.name = "token_mean",
                       .doc = "the mean over the tokens of a sample, padding left out",
                       .apply = apply};

}  // namespace tutti::nn
