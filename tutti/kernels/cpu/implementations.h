// SPDX-License-Identifier: Apache-2.0
// The implementations of the CPU back end, by the source that defines them. table.cpp lists them by
// operator; convolutions have a header of their own (convolution/variants.h).
#pragma once

#include "tutti/kernels/implementation.h"

namespace tutti::cpu {

// ---- bias.cpp
Implementation bias();
Implementation bias_grad();

// ---- cast.cpp
Implementation cast();

// ---- concatenate.cpp
Implementation concatenate();
Implementation slice();
Implementation slice_grad();

// ---- eltwise.cpp
Implementation sigmoid();
Implementation tanh();
Implementation gelu();
Implementation gelu_grad();
Implementation leaky_relu();
Implementation leaky_relu_grad();

// ---- embedding.cpp
Implementation embedding();
Implementation embedding_grad();

// ---- gain.cpp
// Gains on row-major tensors along any axis but the last, for example one gain for each row of
// weights.
Implementation gain();
Implementation gain_grad();

// ---- local_response.cpp
// For beta = 0.75 only, as that power is made of square roots; other values run by the reference.
Implementation local_response();
Implementation local_response_grad();

// ---- losses.cpp
Implementation softmax_cross_entropy();
Implementation softmax_cross_entropy_grad();
Implementation mean_squared_error();
Implementation mean_squared_error_grad();
Implementation huber();
Implementation huber_grad();

// ---- matmul.cpp
Implementation matmul();

// ---- matmul_by_rows.cpp
// Weight gradients dyᵀx, of which each thread of the team computes its own rows.
Implementation matmul_by_rows();

// ---- matmul_i8.cpp
Implementation matmul_i8();          // oneDNN, where the processor multiplies 8 bits exactly
Implementation matmul_i8_by_rows();  // a dot product for each element

// ---- matmul_of_few_rows.cpp
// Products of few rows and many weights: matmul_turned for x Wᵀ, matmul_gemm for dy W.
Implementation matmul_turned();
Implementation matmul_gemm();

// ---- normalise.cpp
Implementation channel_sums();
Implementation normalise();
Implementation normalise_sums();
Implementation normalise_grad();

// ---- parametric_relu.cpp
// With one slope for all channels.
Implementation parametric_relu_shared();
Implementation parametric_relu_grad_shared();
// With a slope for each channel.
Implementation parametric_relu();
Implementation parametric_relu_grad();

// ---- pointwise.cpp
Implementation relu();
Implementation relu_grad();
Implementation tanh_grad();
Implementation sigmoid_grad();
Implementation add();
Implementation multiply();
Implementation scale();
Implementation copy();
Implementation dropout();

// ---- pool.cpp
Implementation max_pool();
Implementation max_pool_grad();
Implementation average_pool();
Implementation average_pool_grad();

// ---- pool_planes.cpp
// Max-pooling of images whose channels are contiguous (channels last or blocked), and of plain
// images by windows of 2×2.
Implementation max_pool_planes();
Implementation max_pool_grad_planes();

// ---- quantise.cpp
Implementation quantise();
Implementation dequantise();

// ---- reorder.cpp
Implementation reorder();
// Reorder between floats and IEEE half, where both layouts have the same order of elements.
Implementation convert();
// Reorder between images blocked by 8 or 16 channels and channels last.
Implementation reorder_channels();

// ---- sample_norm.cpp
Implementation sample_norm();
Implementation sample_norm_grad();

// ---- softmax.cpp
Implementation softmax();
Implementation softmax_grad();

// ---- transpose.cpp
Implementation transpose();

// ---- update.cpp
Implementation update();
Implementation measure();
Implementation square_sum();

// ---- upsample.cpp
Implementation upsample();
Implementation upsample_grad();

}  // namespace tutti::cpu
