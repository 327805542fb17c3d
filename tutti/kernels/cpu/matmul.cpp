// SPDX-License-Identifier: Apache-2.0
// Matrix products by oneDNN on plain row-major operands; a transpose is only another stride.
// Factors may be stored in bf16; the product is float.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/primitive.h"
#include "tutti/kernels/cpu/stored.h"
#include "tutti/ops/shared/epilogue.h"

namespace tutti::cpu {
namespace {

using onednn::Argument;

// The operand as the product sees it: dimensions and strides swapped when transposed.
dnnl_memory_desc_t operand(const Type& type, bool transposed, bool half) {
  Shape shape = type.shape, strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  const std::size_t last = shape.size() - 1;
  if (transposed) {
    std::swap(shape[last], shape[last - 1]);
    std::swap(strides[last], strides[last - 1]);
  }
  const dnnl_memory_desc_t md = onednn::strided(type.dtype, shape, strides);
  return half ? onednn::stored_as(dnnl_bf16, md) : md;
}

onednn::Descriptor describe(const Graph& graph, const Node& node, bool half) {
  const auto a = operand(graph.type(node.inputs[0]), node.settings.flag("transpose_a"), half);
  const auto b = operand(graph.type(node.inputs[1]), node.settings.flag("transpose_b"), half);
  const Type& type = graph.type(node.outputs[0]);
  const auto y = onednn::plain(type);
  const bool has_bias = ops::epilogue_input(node, ops::bias_input) != no_value;
  const bool has_residual = ops::epilogue_input(node, ops::residual_input) != no_value;
  Shape bias_shape(type.shape.size(), 1);
  bias_shape.back() = type.shape.back();
  const auto bias = onednn::plain(type.dtype, bias_shape);
  dnnl_matmul_desc_t operation;
  if (dnnl_matmul_desc_init(&operation, &a, &b, has_bias ? &bias : nullptr, &y) != dnnl_success)
    return nullptr;
  const auto attributes = onednn::attributes(&node.settings, has_residual ? &y : nullptr);
  return onednn::unless_reference(onednn::describe(&operation, attributes.get()));
}

bool floats(const Graph& graph, const Node& node) {
  const Type& type = graph.type(node.outputs[0]);
  return type.dtype == DType::f32 && elements(type.shape) > 0 &&
         elements(graph.shape(node.inputs[0])) > 0;
}

bool wants_half(const Node& node) { return node.settings.text("precision") == "bf16"; }

bool supports(const Graph& graph, const Node& node) {
  return floats(graph, node) && describe(graph, node, wants_half(node)) != nullptr;
}

NodeLayouts layouts(const Graph& graph, const Node& node) {
  NodeLayouts wanted;
  wanted.inputs.resize(node.inputs.size());
  if (wants_half(node))
    for (std::size_t k : {0, 1})
      wanted.inputs[k] = onednn::layout_of(
          onednn::stored_as(dnnl_bf16, onednn::plain(graph.type(node.inputs[k]))));
  return wanted;
}

// The primitive for the layouts that the factors were given.
onednn::Descriptor describe_final(const Graph& graph, const Node& node) {
  return describe(graph, node, is_half(graph.value(node.inputs[0])));
}

std::int64_t scratch(const Graph& graph, const Node& node) {
  return onednn::scratch_bytes(describe_final(graph, node).get());
}

Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  const auto pd = describe_final(graph, node);
  const auto md = [&](dnnl_query_t what, int index = 0) {
    return onednn::query(pd.get(), what, index);
  };
  std::vector<Argument> arguments = {
      {DNNL_ARG_SRC, Argument::input, 0, md(dnnl_query_src_md)},
      {DNNL_ARG_WEIGHTS, Argument::input, 1, md(dnnl_query_weights_md)},
      {DNNL_ARG_DST, Argument::output, 0, md(dnnl_query_dst_md)}};
  if (ops::epilogue_input(node, ops::bias_input) != no_value)
    arguments.push_back({DNNL_ARG_BIAS, Argument::input, 2, md(dnnl_query_weights_md, 1)});
  if (ops::epilogue_input(node, ops::residual_input) != no_value)
    arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, Argument::input, 3,
                         md(dnnl_query_dst_md)});
  return onednn::make_kernel(pd.get(), arguments);
}

}  // namespace

Implementation matmul() {
  return {.name = "onednn",
          .supports = supports,
          .make = make,
          .layouts = layouts,
          .scratch_bytes = scratch,
          .bf16 = true};
}

}  // namespace tutti::cpu
