// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/models/models.h"

#include "tutti/nn/layer.h"

namespace tutti {
namespace nn {

void check_is_image(const Net& net, ValueId x, std::int64_t smallest) {
  const Shape& shape = net.graph.shape(x);
  if (shape.size() != 4)
    throw Error("samples are {}, expected channels × height × width",
                to_string(Shape(shape.begin() + 1, shape.end())));
  if (shape[2] < smallest || shape[3] < smallest)
    throw Error("images are {}×{}, expected at least {}×{}: enlarge them, or choose another model",
                shape[2], shape[3], smallest, smallest);
}

ValueId in_output_shape(Net& net, ValueId x) {
  return net.output_shape.size() == 1 ? x : net.apply(reshape, x, {{"shape", net.output_shape}});
}

ValueId output_layer(Net& net, ValueId x, const std::string& name) {
  x = net.apply(linear, x, {{"name", name}, {"units", elements(net.output_shape)}});
  return in_output_shape(net, x);
}

}  // namespace nn

List<Model> models() {
  const Model layers{
      .name = "layers",
      .doc = "your own chain of layers, one [[model.layers]] table each",
      .build = [](Net&, ValueId, const Settings&) -> ValueId {
        throw Error("there are no layers: add [[model.layers]] tables, or choose another model");
      }};
  std::vector<Model> all{nn::mlp,        nn::token_mlp, nn::dsn,   nn::lenet,
                         nn::lenet5,     nn::alexnet,   nn::vgg16, nn::googlenet,
                         nn::squeezenet, nn::mobilenet, layers};
  for (const std::vector<Model>& family : {nn::resnets(), nn::densenets()})
    all.insert(all.end(), family.begin(), family.end());
  return {"model", std::move(all)};
}

}  // namespace tutti
