// SPDX-License-Identifier: Apache-2.0
// The kernels of the CPU back end by operator, fastest first; what is not here runs by reference.
#include "tutti/kernels/cpu/bias.h"
#include "tutti/kernels/cpu/concatenate.h"
#include "tutti/kernels/cpu/convolution/variants.h"
#include "tutti/kernels/cpu/matmul.h"
#include "tutti/kernels/cpu/normalise.h"
#include "tutti/kernels/cpu/pointwise.h"
#include "tutti/kernels/cpu/pool.h"
#include "tutti/kernels/cpu/pool_planes.h"
#include "tutti/kernels/cpu/primitive.h"
#include "tutti/kernels/cpu/reorder.h"
#include "tutti/kernels/cpu/team.h"
#include "tutti/kernels/cpu/update.h"
#include "tutti/kernels/kernel.h"

namespace tutti {

KernelTable cpu_kernels() {
  KernelTable table;
  table.name = "cpu";
  table.prepare = cpu::prepare_team;
  table.same_bytes = onednn::same_bytes;
  table.by_op = {
      {"matmul", {cpu::matmul_by_rows(), cpu::matmul()}},
      {"max_pool", {cpu::max_pool_planes(), cpu::max_pool()}},
      {"max_pool_grad", {cpu::max_pool_grad_planes(), cpu::max_pool_grad()}},
      {"average_pool", {cpu::average_pool()}},
      {"average_pool_grad", {cpu::average_pool_grad()}},
      {"channel_sums", {cpu::channel_sums()}},
      {"normalise", {cpu::normalise()}},
      {"normalise_sums", {cpu::normalise_sums()}},
      {"normalise_grad", {cpu::normalise_grad()}},
      {"concatenate", {cpu::concatenate()}},
      {"slice", {cpu::slice()}},
      {"slice_grad", {cpu::slice_grad()}},
      {"bias", {cpu::bias()}},
      {"bias_grad", {cpu::bias_grad()}},
      {"relu", {cpu::relu()}},
      {"relu_grad", {cpu::relu_grad()}},
      {"tanh_grad", {cpu::tanh_grad()}},
      {"sigmoid_grad", {cpu::sigmoid_grad()}},
      {"add", {cpu::add()}},
      {"multiply", {cpu::multiply()}},
      {"scale", {cpu::scale()}},
      {"copy", {cpu::copy()}},
      {"dropout", {cpu::dropout()}},
      {"reorder", {cpu::reorder_channels(), cpu::reorder()}},
      {"square_sum", {cpu::square_sum()}},
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
