// SPDX-License-Identifier: Apache-2.0
// The same values under another shape; the batch dimension stays.
#include "tutti/ops/reshape.h"

#include "tutti/nn/layer.h"

namespace tutti::nn {
namespace {

ValueId reshaped(Net& net, ValueId x, const Shape& sample) {
  Shape shape{0};  // 0 keeps the batch dimension
  shape.insert(shape.end(), sample.begin(), sample.end());
  return net.graph.add1(ops::reshape, {x}, {{"shape", shape}});
}

}  // namespace

const Layer flatten{
    .name = "flatten",
    .doc = "all dimensions of a sample become one",
    .apply =
        [](Net& net, ValueId x, const Settings&) {
          return net.graph.shape(x).size() == 2 ? x : reshaped(net, x, {-1});
        },
};

const Layer reshape{
    .name = "reshape",
    .doc = "a sample gets another shape",
    .settings = {{.name = "shape",
                  .initial = Shape{},
                  .doc = "extents of a sample; 0 keeps one, one -1 takes the rest",
                  .min = -1,
                  .required = true}},
    .apply = [](Net& net, ValueId x,
                const Settings& settings) { return reshaped(net, x, settings.integers("shape")); },
};

}  // namespace tutti::nn
