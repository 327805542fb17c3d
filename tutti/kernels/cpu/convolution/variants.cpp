// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/convolution/variants.h"

namespace tutti::cpu {

std::vector<ConvolutionVariant> convolution_variants() {
  return {onednn_winograd_convolution(), onednn_convolution()};
}

}  // namespace tutti::cpu
