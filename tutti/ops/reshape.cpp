// SPDX-License-Identifier: Apache-2.0
// The same elements under another shape. In `shape`, 0 keeps the dimension at that place and one -1
// takes what is left; so [0, -1] flattens samples and goes on holding when the batch is split.
#include "tutti/ops/reshape.h"

#include <cstring>

namespace tutti::ops {
namespace {

// How many leading dimensions are the same on both sides and not fixed by the settings.
std::size_t kept_dimensions(const Shape& wanted, const Shape& from, const Shape& to) {
  std::size_t d = 0;
  while (d < from.size() && d < to.size() && from[d] == to[d] && wanted[d] <= 0) ++d;
  return d;
}

std::vector<Type> infer(const Settings& settings, const std::vector<Type>& in) {
  const Shape& from = in[0].shape;
  const std::string wanted = to_string(settings.values().at("shape"));
  Shape to = settings.integers("shape");
  std::vector<bool> kept(from.size(), false);
  std::int64_t given = 1;  // product of the extents that are written down
  std::int64_t* rest = nullptr;
  for (std::size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 0) {
      if (d >= from.size())
        throw Error("[reshape] entry {} of shape {} keeps a dimension that {} does not have", d,
                    wanted, to_string(from));
      to[d] = from[d];
      kept[d] = true;
    } else if (to[d] == -1) {
      if (rest != nullptr)
        throw Error("[reshape] shape {} has two entries -1, expected at most one", wanted);
      rest = &to[d];
    } else {
      given *= to[d];
    }
  }
  std::int64_t changed = 1;  // elements per kept index; an empty batch keeps its sample's shape
  for (std::size_t d = 0; d < from.size(); ++d) changed *= kept[d] ? 1 : from[d];
  if (rest != nullptr) *rest = changed / given;
  if (changed != given * (rest != nullptr ? *rest : 1))
    throw Error("[reshape] {} does not fit shape {}: {} elements for {}", to_string(from), wanted,
                elements(from), elements(to));
  return {{in[0].dtype, to}};
}

std::vector<ValueId> gradient(Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
  Shape back = graph.shape(node.inputs[0]);
  const std::size_t kept =
      kept_dimensions(node.settings.integers("shape"), back, graph.shape(node.outputs[0]));
  for (std::size_t d = 0; d < kept; ++d) back[d] = 0;
  return graph.add(reshape, {dy[0]}, {{"shape", back}});
}

std::string sharding(const Settings& settings, const std::vector<Type>& in) {
  const Shape from = in[0].shape, to = infer(settings, in)[0].shape;
  const std::size_t kept = kept_dimensions(settings.integers("shape"), from, to);
  const auto indices = [&](const Shape& shape) {
    std::string text;
    for (std::size_t d = 0; d < shape.size(); ++d)
      text += (d > 0 ? "," : "") + std::string(1, d < kept ? static_cast<char>('a' + d) : '*');
    return text;
  };
  return fmt::format("x[{}] -> y[{}]", indices(from), indices(to));
}

}  // namespace

const Op reshape{
    .name = "reshape",
    .doc = "the same elements under another shape",
    .settings = {{.name = "shape",
                  .initial = Shape{},
                  .doc = "extents; 0 keeps one, one -1 takes the rest",
                  .min = -1,
                  .required = true}},
    .infer = infer,
    .gradient = gradient,
    .cost = [](const Settings&, const std::vector<Type>&,
               const std::vector<Type>&) { return Cost{}; },
    .sharding = sharding,
    .reference =
        [](const Call& call) {
          std::memcpy(call.out[0].data, call.in[0].data,
                      static_cast<std::size_t>(call.in[0].bytes()));
        },
    .cases =
        [] {
          return std::vector<OpCase>{{{{"shape", Shape{0, -1}}}, {{DType::f64, {4, 3, 2}}}},
                                     {{{"shape", Shape{0, 2, -1}}}, {{DType::f64, {4, 6}}}},
                                     {{{"shape", Shape{6, 4}}}, {{DType::f64, {2, 3, 4}}}}};
        },
    .view = true,
    .linear = true,
};

}  // namespace tutti::ops
