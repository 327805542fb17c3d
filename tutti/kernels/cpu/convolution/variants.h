// SPDX-License-Identifier: Apache-2.0
// The variants, or ways to compute a convolution (B05–B14), one file each. A node names a variant
// by its setting `variant`; where it leaves that open, the first variant that is preferred for its
// sizes is taken.
#pragma once

#include "tutti/kernels/implementation.h"

#include <vector>

namespace tutti::cpu {

// One variant of convolution, convolution_grad_input and convolution_grad_weight.
struct ConvolutionVariant {
  Implementation forward, input, weight;
};

ConvolutionVariant rows_convolution();
ConvolutionVariant onednn_winograd_convolution();
ConvolutionVariant onednn_convolution();
ConvolutionVariant winograd_convolution();
ConvolutionVariant winograd_f2_convolution();
ConvolutionVariant winograd_f6_convolution();
ConvolutionVariant fft_convolution();
ConvolutionVariant im2col_convolution();
ConvolutionVariant implicit_convolution();
ConvolutionVariant kn2row_convolution();
ConvolutionVariant strassen_convolution();
ConvolutionVariant im2col_chwn_convolution();
ConvolutionVariant direct_convolution();
ConvolutionVariant direct_chwn_convolution();

// All variants, in the order in which they are tried.
std::vector<ConvolutionVariant> convolution_variants();

}  // namespace tutti::cpu
