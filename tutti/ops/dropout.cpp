// SPDX-License-Identifier: Apache-2.0
// Inverted dropout: each element is set to zero with probability `rate`, the others grow by
// 1 / (1 - rate), so that the mean stays. The gradient applies the same mask to dy: it is the same
// operator with the same origin.
#include "tutti/ops/dropout.h"

#include "tutti/ops/shared/pointwise.h"

namespace tutti::ops {
namespace {

std::vector<ValueId> gradient(Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
  const int origin = node.origin;
  const ValueId dx = graph.add1(dropout, {dy[0]}, node.settings);
  graph.nodes.back().origin = origin;
  return {dx};
}

// The mask is indexed by whole samples, so only the first dimension may be split.
std::string sharding(const Settings&, const std::vector<Type>& in) {
  std::string indices;
  for (std::size_t d = 0; d < in[0].shape.size(); ++d) indices += d > 0 ? ",*" : "n";
  return fmt::format("x[{}] -> y[{}]", indices, indices);
}

void reference(const Call& call) {
  const DropoutMask mask = dropout_mask(call.settings, call.in[0].shape, call.step, call.origin);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* x = call.in[0].as<T>();
    T* y = call.out[0].as<T>();
    const T factor = static_cast<T>(mask.factor);
    for (std::int64_t i = 0; i < call.out[0].count(); ++i) y[i] = mask.keeps(i) ? factor * x[i] : 0;
  });
}

}  // namespace

const Op dropout{
    .name = "dropout",
    .doc = "y = x / (1 - rate) with probability 1 - rate, else 0",
    .settings = {{.name = "rate",
                  .initial = 0.5,
                  .doc = "probability that an element falls",
                  .min = 0,
                  .max = 0.99},
                 {.name = "sample_rows",
                  .initial = std::int64_t{1},
                  .doc = "rows of x that belong to one sample of the batch; 0: all ranks draw "
                         "the same mask",
                  .min = 0}},
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("dropout", in); },
    .gradient = gradient,
    .cost = cost_pointwise,
    .sharding = sharding,
    .reference = reference,
    .cases =
        [] {
          return cases_pointwise(1, {{"rate", 0.4}});
        },
    .in_place = {{0, 0}},
    .random = true,
};

}  // namespace tutti::ops
