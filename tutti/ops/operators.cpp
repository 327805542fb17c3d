// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/operators.h"

#include "tutti/ops/absolute_error.h"
#include "tutti/ops/accuracy.h"
#include "tutti/ops/add.h"
#include "tutti/ops/allgather.h"
#include "tutti/ops/allreduce.h"
#include "tutti/ops/allreduce_block.h"
#include "tutti/ops/average_pool.h"
#include "tutti/ops/barrier.h"
#include "tutti/ops/bias.h"
#include "tutti/ops/broadcast.h"
#include "tutti/ops/cast.h"
#include "tutti/ops/channel_sums.h"
#include "tutti/ops/clip.h"
#include "tutti/ops/concatenate.h"
#include "tutti/ops/constant.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/correct.h"
#include "tutti/ops/cross_entropy.h"
#include "tutti/ops/dropout.h"
#include "tutti/ops/embedding.h"
#include "tutti/ops/gain.h"
#include "tutti/ops/gelu.h"
#include "tutti/ops/gradient_norm.h"
#include "tutti/ops/guard.h"
#include "tutti/ops/huber.h"
#include "tutti/ops/join.h"
#include "tutti/ops/leaky_relu.h"
#include "tutti/ops/length_mask.h"
#include "tutti/ops/local_response.h"
#include "tutti/ops/loss_scale.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/matmul_i8.h"
#include "tutti/ops/max_pool.h"
#include "tutti/ops/mean_squared_error.h"
#include "tutti/ops/multiply.h"
#include "tutti/ops/normalise.h"
#include "tutti/ops/one_hot.h"
#include "tutti/ops/parametric_relu.h"
#include "tutti/ops/quantise.h"
#include "tutti/ops/reduce_scatter.h"
#include "tutti/ops/relu.h"
#include "tutti/ops/reshape.h"
#include "tutti/ops/sample_norm.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/section.h"
#include "tutti/ops/send_recv.h"
#include "tutti/ops/sigmoid.h"
#include "tutti/ops/similarity.h"
#include "tutti/ops/slice.h"
#include "tutti/ops/softmax.h"
#include "tutti/ops/square_sum.h"
#include "tutti/ops/tanh.h"
#include "tutti/ops/tiled_convolution.h"
#include "tutti/ops/transpose.h"
#include "tutti/ops/update.h"
#include "tutti/ops/upsample.h"
#include "tutti/ops/weigh.h"

namespace tutti::ops {

List<OpEntry> operators() {
  std::vector<OpEntry> entries;
  for (const Op* op : {
           &absolute_error,
           &accuracy,
           &add,
           &allgather,
           &allreduce,
           &allreduce_block,
           &average_pool,
           &average_pool_grad,
           &barrier,
           &bias,
           &bias_grad,
           &broadcast,
           &broadcast_bias,
           &cast,
           &channel_statistics,
           &channel_statistics_grad,
           &channel_sums,
           &channel_sums_grad,
           &clip,
           &clip_grad,
           &concatenate,
           &constant,
           &loss_scale,
           &convolution,
           &convolution_grad_input,
           &convolution_grad_weight,
           &copy,
           &correct,
           &dequantise,
           &dropout,
           &embedding,
           &embedding_grad,
           &gain,
           &gain_grad,
           &gelu,
           &gelu_grad,
           &gelu_grad2,
           &gradient_norm,
           &guard,
           &huber,
           &huber_grad,
           &join,
           &leaky_relu,
           &leaky_relu_grad,
           &local_response,
           &local_response_grad,
           &local_response_grad2,
           &matmul,
           &matmul_i8,
           &max_pool,
           &max_pool_gather,
           &max_pool_grad,
           &mean_squared_error,
           &mean_squared_error_grad,
           &measure,
           &multiply,
           &normalise,
           &normalise_grad,
           &normalise_grad_input,
           &normalise_grad_parameters,
           &normalise_grad_statistics,
           &normalise_sums,
           &one_hot,
           &parametric_relu,
           &parametric_relu_grad,
           &parametric_relu_grad2,
           &quantise,
           &recv,
           &reduce_scatter,
           &relabel,
           &relu,
           &relu_grad,
           &reorder,
           &reshape,
           &running_average,
           &sample_norm,
           &sample_norm_grad,
           &sample_norm_grad2,
           &scale,
           &section,
           &send,
           &sigmoid,
           &sigmoid_grad,
           &similarity,
           &similarity_grad,
           &slice,
           &slice_grad,
           &softmax,
           &softmax_cross_entropy,
           &softmax_cross_entropy_grad,
           &softmax_grad,
           &softmax_grad2,
           &square_sum,
           &tanh,
           &tanh_grad,
           &tiled_convolution,
           &tiled_convolution_grad_input,
           &tiled_convolution_grad_weight,
           &to_index,
           &to_real,
           &length_mask,
           &transpose,
           &update,
           &upsample,
           &upsample_grad,
           &weigh,
           &weighted_dot,
       })
    entries.push_back({op->name, op});
  return List<OpEntry>("operator", std::move(entries));
}

}  // namespace tutti::ops
