// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/operators.h"

#include "tutti/ops/average_pool.h"
#include "tutti/ops/bias.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/max_pool.h"
#include "tutti/ops/relu.h"

namespace tutti::ops {

List<OpEntry> operators() {
  std::vector<OpEntry> entries;
  for (const Op* op : {
           &average_pool,
           &average_pool_grad,
           &bias,
           &bias_grad,
           &broadcast_bias,
           &convolution,
           &convolution_grad_input,
           &convolution_grad_weight,
           &matmul,
           &max_pool,
           &max_pool_gather,
           &max_pool_grad,
           &relu,
           &relu_grad,
       })
    entries.push_back({op->name, op});
  return List<OpEntry>("operator", std::move(entries));
}

}  // namespace tutti::ops
