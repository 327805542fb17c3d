// SPDX-License-Identifier: Apache-2.0
// The kernels of the CPU back end by operator, fastest first; other operators run by the reference.
#include "tutti/kernels/backends.h"
#include "tutti/kernels/cpu/convolution/variants.h"
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/primitive.h"
#include "tutti/kernels/cpu/stored.h"
#include "tutti/kernels/cpu/team.h"

namespace tutti {

KernelTable cpu_kernels() {
  onednn::bound_instructions();
  KernelTable table;
  table.name = "cpu";
  table.prepare = cpu::prepare_team;
  table.same_bytes = onednn::same_bytes;
  table.readable = cpu::readable;
  table.narrowed = cpu::narrowed;
  table.require_precision = cpu::require_precision;
  table.by_op = {
      {"matmul", {cpu::matmul_by_rows(), cpu::matmul_turned(), cpu::matmul_gemm(), cpu::matmul()}},
      {"matmul_i8", {cpu::matmul_i8(), cpu::matmul_i8_by_rows()}},
      {"quantise", {cpu::quantise()}},
      {"dequantise", {cpu::dequantise()}},
      {"max_pool", {cpu::max_pool_planes(), cpu::max_pool()}},
      {"max_pool_grad", {cpu::max_pool_grad_planes(), cpu::max_pool_grad()}},
      {"average_pool", {cpu::average_pool()}},
      {"average_pool_grad", {cpu::average_pool_grad()}},
      {"channel_sums", {cpu::channel_sums()}},
      {"normalise", {cpu::normalise()}},
      {"normalise_sums", {cpu::normalise_sums()}},
      {"normalise_grad", {cpu::normalise_grad()}},
      {"cast", {cpu::cast()}},
      {"concatenate", {cpu::concatenate()}},
      {"slice", {cpu::slice()}},
      {"slice_grad", {cpu::slice_grad()}},
      {"bias", {cpu::bias()}},
      {"bias_grad", {cpu::bias_grad()}},
      {"gain", {cpu::gain()}},
      {"gain_grad", {cpu::gain_grad()}},
      {"sample_norm", {cpu::sample_norm()}},
      {"sample_norm_grad", {cpu::sample_norm_grad()}},
      {"softmax", {cpu::softmax()}},
      {"softmax_grad", {cpu::softmax_grad()}},
      {"softmax_cross_entropy", {cpu::softmax_cross_entropy()}},
      {"softmax_cross_entropy_grad", {cpu::softmax_cross_entropy_grad()}},
      {"mean_squared_error", {cpu::mean_squared_error()}},
      {"mean_squared_error_grad", {cpu::mean_squared_error_grad()}},
      {"huber", {cpu::huber()}},
      {"huber_grad", {cpu::huber_grad()}},
      {"transpose", {cpu::transpose()}},
      {"sigmoid", {cpu::sigmoid()}},
      {"tanh", {cpu::tanh()}},
      {"gelu", {cpu::gelu()}},
      {"gelu_grad", {cpu::gelu_grad()}},
      {"leaky_relu", {cpu::leaky_relu()}},
      {"leaky_relu_grad", {cpu::leaky_relu_grad()}},
      {"local_response", {cpu::local_response()}},
      {"local_response_grad", {cpu::local_response_grad()}},
      {"parametric_relu", {cpu::parametric_relu_shared(), cpu::parametric_relu()}},
      {"parametric_relu_grad", {cpu::parametric_relu_grad_shared(), cpu::parametric_relu_grad()}},
      {"upsample", {cpu::upsample()}},
      {"upsample_grad", {cpu::upsample_grad()}},
      {"embedding", {cpu::embedding()}},
      {"embedding_grad", {cpu::embedding_grad()}},
      {"relu", {cpu::relu()}},
      {"relu_grad", {cpu::relu_grad()}},
      {"tanh_grad", {cpu::tanh_grad()}},
      {"sigmoid_grad", {cpu::sigmoid_grad()}},
      {"add", {cpu::add()}},
      {"multiply", {cpu::multiply()}},
      {"scale", {cpu::scale()}},
      {"copy", {cpu::copy()}},
      {"dropout", {cpu::dropout()}},
      {"reorder", {cpu::convert(), cpu::reorder_channels(), cpu::reorder()}},
      {"square_sum", {cpu::square_sum()}},
      {"measure", {cpu::measure()}},
      {"update", {cpu::update()}},
  };
  for (const cpu::ConvolutionVariant& variant : cpu::convolution_variants()) {
    table.by_op["convolution"].push_back(variant.forward);
    table.by_op["convolution_grad_input"].push_back(variant.input);
    table.by_op["convolution_grad_weight"].push_back(variant.weight);
  }
  return table;
}

}  // namespace tutti
