// SPDX-License-Identifier: Apache-2.0
// The same elements under another shape. In `shape`, 0 keeps the dimension at that place and one -1
// takes what is left. So [0, -1] flattens samples, and [-1, d] merges samples with the dimension
// behind them; both stay valid when the batch is split.
#include "tutti/ops/reshape.h"

#include <fmt/ranges.h>

#include <cstring>
#include <iterator>
#include <set>
#include <string>
#include <vector>

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

// Where no leading dimension is kept, the first extent is -1, so that the settings hold no extent
// that a partition may cut.
std::vector<ValueId> gradient(Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
  Shape back = graph.shape(node.inputs[0]);
  const std::size_t kept =
      kept_dimensions(node.settings.integers("shape"), back, graph.shape(node.outputs[0]));
  for (std::size_t d = 0; d < kept; ++d) back[d] = 0;
  if (kept == 0 && !back.empty()) back[0] = -1;
  return graph.add(reshape, {dy[0]}, {{"shape", back}});
}

// Two shapes of the same elements, written with common indices, outermost first. An index is
// identified by the number of elements that it and all indices behind it span. Wherever a dimension
// of one of the shapes ends, an index ends.
class MergedIndices {
 public:
  MergedIndices(Shape from, Shape to, std::size_t kept) : kept_(kept) {
    // A batch of one sample must be an index too, so the first dimension is taken as twice as
    // large.
    if (kept < from.size() && kept < to.size()) from[kept] *= 2, to[kept] *= 2;
    for (const Shape* shape : {&from, &to})
      for (std::size_t d = kept; d < shape->size(); ++d)
        strides_.insert(elements(*shape, d, shape->size()));
    std::int64_t inner = 1;
    for (const std::int64_t stride : strides_) {
      divide_ = divide_ && stride > 0 && stride % inner == 0;
      inner = stride;
    }
    from_ = std::move(from), to_ = std::move(to);
  }

  // One of the shapes in index notation, "a,b·c". Indices of `fixed` dimensions of the second shape
  // are written "*", since they may not be split.
  std::string written(bool second, const std::set<std::size_t>& fixed) const {
    std::set<std::int64_t> whole;
    for (const std::size_t d : fixed) whole.insert(elements(to_, d, to_.size()));
    const Shape& shape = second ? to_ : from_;
    std::vector<std::string> dimensions;
    for (std::size_t d = 0; d < shape.size(); ++d)
      dimensions.push_back(d < kept_ ? letter(d) : dimension(shape, d, whole));
    return fmt::format("{}", fmt::join(dimensions, ","));
  }

 private:
  static std::string letter(std::size_t number) { return {static_cast<char>('a' + number)}; }

  std::string dimension(const Shape& shape, std::size_t d,
                        const std::set<std::int64_t>& whole) const {
    const std::int64_t outer = elements(shape, d, shape.size()),
                       inner = elements(shape, d + 1, shape.size());
    if (!divide_ || outer == inner) return "*";
    std::vector<std::string> indices;
    for (auto stride = strides_.find(outer); *stride != inner; --stride) {
      const auto place = static_cast<std::size_t>(std::distance(stride, strides_.end())) - 1;
      indices.push_back(whole.contains(*stride) ? "*" : letter(kept_ + place));
      if (stride == strides_.begin()) break;
    }
    return fmt::format("{}", fmt::join(indices, "·"));
  }

  std::size_t kept_;
  Shape from_, to_;
  std::set<std::int64_t> strides_;
  bool divide_ = true;  // every stride divides the next one; else nothing may be split
};

// "x[a,b,c] -> y[a·b,c]". An extent that the settings write down holds for the whole tensor only.
std::string sharding(const Settings& settings, const std::vector<Type>& in) {
  const Shape &from = in[0].shape, to = infer(settings, in)[0].shape;
  const Shape& wanted = settings.integers("shape");
  const std::size_t kept = kept_dimensions(wanted, from, to);
  const MergedIndices indices(from, to, kept);
  std::set<std::size_t> fixed;
  for (std::size_t d = kept; d < to.size(); ++d)
    if (wanted[d] > 0) fixed.insert(d);
  return fmt::format("x[{}] -> y[{}]", indices.written(false, fixed), indices.written(true, fixed));
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
                                     {{{"shape", Shape{-1, 4}}}, {{DType::f64, {3, 2, 4}}}},
                                     {{{"shape", Shape{-1, 2, 4}}}, {{DType::f64, {6, 4}}}},
                                     {{{"shape", Shape{-1, 12}}}, {{DType::f64, {6, 4}}}},
                                     {{{"shape", Shape{6, 4}}}, {{DType::f64, {2, 3, 4}}}}};
        },
    .view = true,
    .linear = true,
};

}  // namespace tutti::ops
