// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/convolution/variants.h"

namespace tutti::cpu {

std::vector<ConvolutionVariant> convolution_variants() {
  return {rows_convolution(),     onednn_winograd_convolution(), onednn_convolution(),
          winograd_convolution(), winograd_f2_convolution(),     winograd_f6_convolution(),
          fft_convolution(),      im2col_convolution(),          implicit_convolution(),
          kn2row_convolution(),   strassen_convolution(),        im2col_chwn_convolution(),
          direct_convolution(),   direct_chwn_convolution()};
}

}  // namespace tutti::cpu
