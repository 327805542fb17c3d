// SPDX-License-Identifier: Apache-2.0
// Convolution and its two gradients by oneDNN: one variant with its direct kernels, one with its
// Winograd kernels. oneDNN chooses the layouts when the layout pass asks; where that pass is off,
// the direct kernels run on row-major tensors.
#include "tutti/kernels/cpu/convolution/sizes.h"
#include "tutti/kernels/cpu/convolution/variants.h"
#include "tutti/kernels/cpu/primitive.h"
#include "tutti/ops/shared/epilogue.h"
#include "tutti/ops/shared/window.h"

#include <array>

namespace tutti::cpu {
namespace {

using onednn::Argument;
using onednn::Descriptor;

// The three tensors of a convolution, whichever way it is computed.
struct Tensors {
  dnnl_memory_desc_t x, w, y;
};

// oneDNN sees grouped weights as [groups, o/groups, c/groups, kernel…].
Shape grouped(const Shape& w, std::int64_t groups) {
  if (groups == 1) return w;
  Shape result = w;
  result[0] /= groups;
  result.insert(result.begin(), groups);
  return result;
}

Type with_groups(Type w, std::int64_t groups) {
  w.shape = grouped(w.shape, groups);
  return w;
}

struct Geometry {
  std::vector<dnnl_dim_t> stride, dilation, padding;
};

Geometry geometry(const Settings& settings, const Shape& w) {
  Geometry g;
  for (const ops::Window& window :
       ops::convolution_windows("convolution", settings, ops::spatial_of(w))) {
    g.stride.push_back(window.stride);
    g.dilation.push_back(window.dilation - 1);
    g.padding.push_back(window.padding);
  }
  return g;
}

constexpr dnnl_alg_kind_t direct = dnnl_convolution_direct, winograd = dnnl_convolution_winograd;

// The tensors x, w and y of a node, each an input or output that depends on the direction.
const Value& tensor_x(const Graph& graph, const Node& node, Direction direction) {
  return graph.value(direction == Direction::input ? node.outputs[0] : node.inputs[0]);
}
const Value& tensor_w(const Graph& graph, const Node& node, Direction direction) {
  return graph.value(direction == Direction::weight ? node.outputs[0] : node.inputs[1]);
}
const Value& tensor_y(const Graph& graph, const Node& node, Direction direction) {
  if (direction == Direction::forward) return graph.value(node.outputs[0]);
  return graph.value(node.inputs[direction == Direction::input ? 0 : 1]);
}

Descriptor describe_forward(const Graph& graph, const Node& node, dnnl_alg_kind_t algorithm,
                            const Tensors& t, const Geometry& g, bool with_bias, bool with_post) {
  dnnl_memory_desc_t bias{};
  if (with_bias) bias = onednn::plain(DType::f32, {t.y.dims[1]});
  dnnl_convolution_desc_t operation;
  onednn::check(
      dnnl_dilated_convolution_forward_desc_init(
          &operation, dnnl_forward_training, algorithm, &t.x, &t.w, with_bias ? &bias : nullptr,
          &t.y, g.stride.data(), g.dilation.data(), g.padding.data(), g.padding.data()),
      "dnnl_dilated_convolution_forward_desc_init");
  const ValueId residual = with_post ? ops::epilogue_input(node, ops::residual_input) : no_value;
  dnnl_memory_desc_t residual_md{};
  if (residual != no_value)
    residual_md = t.y.format_kind == dnnl_format_kind_any
                      ? onednn::any(t.y.data_type, graph.shape(residual))
                      : t.y;
  const auto attributes = onednn::attributes(with_post ? &node.settings : nullptr,
                                             residual == no_value ? nullptr : &residual_md);
  return onednn::describe(&operation, attributes.get());
}

// The primitive for given layouts (or "any"); nullptr when only oneDNN's reference would take it.
Descriptor describe(const Graph& graph, const Node& node, Direction direction,
                    dnnl_alg_kind_t algorithm, const Tensors& t) {
  const Geometry g = geometry(node.settings, tensor_w(graph, node, direction).type.shape);
  if (direction == Direction::forward)
    return onednn::unless_reference(
        describe_forward(graph, node, algorithm, t, g,
                         ops::epilogue_input(node, ops::bias_input) != no_value, true));
  Tensors forward = t;
  // The gradient of the weights is float even where bf16 is multiplied.
  if (t.x.data_type != t.w.data_type)
    forward.w = onednn::any(t.x.data_type, Shape(t.w.dims, t.w.dims + t.w.ndims));
  const Descriptor hint = describe_forward(graph, node, algorithm, forward, g, false, false);
  if (hint == nullptr) return nullptr;
  const auto attributes = onednn::attributes();
  dnnl_convolution_desc_t operation;
  if (direction == Direction::input) {
    onednn::check(dnnl_dilated_convolution_backward_data_desc_init(
                      &operation, algorithm, &t.x, &t.w, &t.y, g.stride.data(), g.dilation.data(),
                      g.padding.data(), g.padding.data()),
                  "dnnl_dilated_convolution_backward_data_desc_init");
  } else {
    const bool with_bias = node.settings.flag("with_bias");
    const dnnl_memory_desc_t bias = onednn::plain(DType::f32, {t.y.dims[1]});
    onednn::check(dnnl_dilated_convolution_backward_weights_desc_init(
                      &operation, algorithm, &t.x, &t.w, with_bias ? &bias : nullptr, &t.y,
                      g.stride.data(), g.dilation.data(), g.padding.data(), g.padding.data()),
                  "dnnl_dilated_convolution_backward_weights_desc_init");
  }
  return onednn::unless_reference(onednn::describe(&operation, attributes.get(), hint.get()));
}

// The type that tensors are stored in where oneDNN chooses the layout; its Winograd kernels take
// floats only.
dnnl_data_type_t storage(const Node& node, dnnl_alg_kind_t algorithm) {
  return algorithm == direct && node.settings.text("precision") == "bf16" ? dnnl_bf16 : dnnl_f32;
}

Tensors tensors_any(const Graph& graph, const Node& node, Direction direction,
                    dnnl_alg_kind_t algorithm) {
  const std::int64_t groups = node.settings.integer("groups");
  const dnnl_data_type_t stored = storage(node, algorithm);
  return {onednn::any(stored, tensor_x(graph, node, direction).type.shape),
          onednn::any(direction == Direction::weight ? dnnl_f32 : stored,
                      grouped(tensor_w(graph, node, direction).type.shape, groups)),
          onednn::any(stored, tensor_y(graph, node, direction).type.shape)};
}

// Whether x, from 4 channels on, or y has fewer than 16 channels; then channels last is asked for.
// Left to itself, oneDNN pads such activations to 16 channels or takes row-major, and wants other
// layouts for the gradients. Channels last is as fast in all three directions, moves fewer bytes
// and needs no reorder (LeNet's step: 3.2 ms against 4.4).
bool few_channels(const Graph& graph, const Node& node, Direction direction) {
  const Shape& x = tensor_x(graph, node, direction).type.shape;
  const Shape& y = tensor_y(graph, node, direction).type.shape;
  return x.size() == 4 && node.settings.integer("groups") == 1 &&
         ((x[1] >= 4 && x[1] < 16) || y[1] < 16);
}

dnnl_memory_desc_t channels_last(const Type& type, dnnl_data_type_t stored) {
  dnnl_memory_desc_t md{};
  onednn::check(dnnl_memory_desc_init_by_tag(&md, 4, type.shape.data(), stored, dnnl_nhwc),
                "dnnl_memory_desc_init_by_tag");
  return md;
}

// The primitive in the layouts in which it is fastest.
Descriptor describe_preferred(const Graph& graph, const Node& node, Direction direction,
                              dnnl_alg_kind_t algorithm) {
  Tensors tensors = tensors_any(graph, node, direction, algorithm);
  if (algorithm == direct && few_channels(graph, node, direction)) {
    const dnnl_data_type_t stored = storage(node, algorithm);
    tensors.x = channels_last(tensor_x(graph, node, direction).type, stored);
    tensors.y = channels_last(tensor_y(graph, node, direction).type, stored);
    if (Descriptor pd = describe(graph, node, direction, algorithm, tensors); pd != nullptr)
      return pd;
    tensors = tensors_any(graph, node, direction, algorithm);
  }
  return describe(graph, node, direction, algorithm, tensors);
}

Tensors tensors_as_they_lie(const Graph& graph, const Node& node, Direction direction) {
  const std::int64_t groups = node.settings.integer("groups");
  const Value& w = tensor_w(graph, node, direction);
  return {onednn::as_it_lies(tensor_x(graph, node, direction)),
          w.layout.plain() ? onednn::plain(with_groups(w.type, groups)) : onednn::as_it_lies(w),
          onednn::as_it_lies(tensor_y(graph, node, direction))};
}

template <Direction direction, dnnl_alg_kind_t algorithm>
bool supports(const Graph& graph, const Node& node) {
  const Value& x = tensor_x(graph, node, direction);
  if (x.type.dtype != DType::f32 || elements(x.type.shape) == 0) return false;
  return describe_preferred(graph, node, direction, algorithm) != nullptr;
}

// Whether the Winograd kernels are expected to be faster. Measured: 1.5 to 2.6 times as fast as
// direct kernels from 32 channels on, at 16 channels only for the gradient of weights, never below.
// Direct bf16 is as fast (ResNet-18: 434 against 430 ms) in a third of the memory.
template <Direction direction>
bool winograd_wins(const Graph& graph, const Node& node) {
  if (node.settings.text("precision") == "bf16") return false;
  const std::int64_t channels = std::min(tensor_x(graph, node, direction).type.shape[1],
                                         tensor_y(graph, node, direction).type.shape[1]);
  return node.settings.integer("groups") == 1 &&
         channels >= (direction == Direction::weight ? 16 : 32);
}

template <Direction direction, dnnl_alg_kind_t algorithm>
NodeLayouts layouts(const Graph& graph, const Node& node) {
  const Descriptor pd = describe_preferred(graph, node, direction, algorithm);
  const auto get = [&](dnnl_query_t what) {
    return onednn::layout_of(onednn::query(pd.get(), what));
  };
  NodeLayouts wanted;
  if (direction == Direction::forward) {
    wanted.inputs = {get(dnnl_query_src_md), get(dnnl_query_weights_md)};
    wanted.outputs = {get(dnnl_query_dst_md)};
    wanted.inputs.resize(node.inputs.size());
    if (ops::epilogue_input(node, ops::residual_input) != no_value)
      wanted.inputs[ops::residual_input] = wanted.outputs[0];
  } else if (direction == Direction::input) {
    wanted.inputs = {get(dnnl_query_diff_dst_md), get(dnnl_query_weights_md)};
    wanted.outputs = {get(dnnl_query_diff_src_md)};
  } else {
    wanted.inputs = {get(dnnl_query_src_md), get(dnnl_query_diff_dst_md)};
    wanted.outputs = {get(dnnl_query_diff_weights_md)};
    wanted.outputs.resize(node.outputs.size());
  }
  return wanted;
}

bool lies_so(const Value& value, const dnnl_memory_desc_t& wanted) {
  const Layout layout = onednn::layout_of(wanted);
  return value.layout == layout || onednn::same_bytes(value.type, value.layout, layout);
}

// The primitive for the layouts that the values have. Where a preferred layout is the same bytes as
// the one given (one channel: row-major is channels last), oneDNN must be given the preferred one.
// nullptr when there is no such primitive.
Descriptor describe_as_it_lies(const Graph& graph, const Node& node, Direction direction,
                               dnnl_alg_kind_t algorithm) {
  Descriptor pd =
      describe(graph, node, direction, algorithm, tensors_as_they_lie(graph, node, direction));
  if (pd != nullptr) return pd;
  pd = describe_preferred(graph, node, direction, algorithm);
  const auto md = [&](dnnl_query_t forward, dnnl_query_t backward, bool gradient) {
    return onednn::query(pd.get(), gradient ? backward : forward);
  };
  if (pd != nullptr &&
      lies_so(tensor_x(graph, node, direction),
              md(dnnl_query_src_md, dnnl_query_diff_src_md, direction == Direction::input)) &&
      lies_so(tensor_y(graph, node, direction),
              md(dnnl_query_dst_md, dnnl_query_diff_dst_md, direction != Direction::forward)) &&
      tensor_w(graph, node, direction).layout ==
          onednn::layout_of(md(dnnl_query_weights_md, dnnl_query_diff_weights_md,
                               direction == Direction::weight)))
    return pd;
  return nullptr;
}

template <Direction direction, dnnl_alg_kind_t algorithm>
bool fits(const Graph& graph, const Node& node) {
  return describe_as_it_lies(graph, node, direction, algorithm) != nullptr;
}

Descriptor describe_final(const Graph& graph, const Node& node, Direction direction,
                          dnnl_alg_kind_t algorithm) {
  if (Descriptor pd = describe_as_it_lies(graph, node, direction, algorithm); pd != nullptr)
    return pd;
  throw Error(
      "[{}] oneDNN has no fast kernel for {} in the layouts given; run with the layout pass on",
      node.op->name, to_string(graph.shape(node.inputs[0])));
}

template <Direction direction, dnnl_alg_kind_t algorithm>
std::int64_t scratch(const Graph& graph, const Node& node) {
  return onednn::scratch_bytes(describe_final(graph, node, direction, algorithm).get());
}

template <Direction direction, dnnl_alg_kind_t algorithm>
Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  const Descriptor pd = describe_final(graph, node, direction, algorithm);
  const auto md = [&](dnnl_query_t what, int index = 0) {
    return onednn::query(pd.get(), what, index);
  };
  constexpr auto in = Argument::input, out = Argument::output;
  std::vector<Argument> arguments;
  if (direction == Direction::forward) {
    arguments = {{DNNL_ARG_SRC, in, 0, md(dnnl_query_src_md)},
                 {DNNL_ARG_WEIGHTS, in, 1, md(dnnl_query_weights_md)},
                 {DNNL_ARG_DST, out, 0, md(dnnl_query_dst_md)}};
    if (ops::epilogue_input(node, ops::bias_input) != no_value)
      arguments.push_back({DNNL_ARG_BIAS, in, 2, md(dnnl_query_weights_md, 1)});
    if (ops::epilogue_input(node, ops::residual_input) != no_value)
      arguments.push_back(
          {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, in, 3, md(dnnl_query_dst_md)});
  } else if (direction == Direction::input) {
    arguments = {{DNNL_ARG_DIFF_DST, in, 0, md(dnnl_query_diff_dst_md)},
                 {DNNL_ARG_WEIGHTS, in, 1, md(dnnl_query_weights_md)},
                 {DNNL_ARG_DIFF_SRC, out, 0, md(dnnl_query_diff_src_md)}};
  } else {
    arguments = {{DNNL_ARG_SRC, in, 0, md(dnnl_query_src_md)},
                 {DNNL_ARG_DIFF_DST, in, 1, md(dnnl_query_diff_dst_md)},
                 {DNNL_ARG_DIFF_WEIGHTS, out, 0, md(dnnl_query_diff_weights_md)}};
    if (node.settings.flag("with_bias"))
      arguments.push_back({DNNL_ARG_DIFF_BIAS, out, 1, md(dnnl_query_diff_weights_md, 1)});
  }
  return onednn::make_kernel(pd.get(), arguments);
}

template <Direction direction>
Implementation by_direct() {
  return {.name = "onednn",
          .supports = supports<direction, direct>,
          .make = make<direction, direct>,
          .layouts = layouts<direction, direct>,
          .scratch_bytes = scratch<direction, direct>,
          .bf16 = true,
          .doc = "oneDNN's direct kernels on blocked layouts"};
}

template <Direction direction>
Implementation by_winograd() {
  return {.name = "onednn-winograd",
          .supports = supports<direction, winograd>,
          .make = make<direction, winograd>,
          .layouts = layouts<direction, winograd>,
          .scratch_bytes = scratch<direction, winograd>,
          .preferred = winograd_wins<direction>,
          .fits = fits<direction, winograd>,
          .doc = "oneDNN's Winograd F(4×4, 3×3): 3×3 kernels, stride 1, from 16 channels on"};
}

}  // namespace

ConvolutionVariant onednn_convolution() {
  return {by_direct<Direction::forward>(), by_direct<Direction::input>(),
          by_direct<Direction::weight>()};
}

ConvolutionVariant onednn_winograd_convolution() {
  return {by_winograd<Direction::forward>(), by_winograd<Direction::input>(),
          by_winograd<Direction::weight>()};
}

}  // namespace tutti::cpu
