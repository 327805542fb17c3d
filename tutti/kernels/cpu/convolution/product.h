// SPDX-License-Identifier: Apache-2.0
// Row-major matrix products by oneDNN, for the variants of convolution that are made of such
// products. Inside a parallel region a product runs on the calling thread.
#pragma once

#include "tutti/kernels/cpu/primitive.h"

#include <algorithm>

namespace tutti::cpu {

// A matrix of which rows, or columns when transposed, are contiguous.
struct Matrix {
  const float* data = nullptr;
  std::int64_t stride = 0;  // between rows as they lie in memory
  bool transposed = false;
};

// c[m×n] = alpha·a[m×k]·b[k×n] + beta·c
inline void product(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                    const Matrix& b, float beta, float* c, std::int64_t c_stride, float alpha = 1) {
  // oneDNN checks the stride of a single row, too, although it has no meaning.
  const std::int64_t a_stride = std::max(a.stride, a.transposed ? m : k);
  const std::int64_t b_stride = std::max(b.stride, b.transposed ? k : n);
  onednn::check(dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, alpha,
                           a.data, a_stride, b.data, b_stride, beta, c, std::max(c_stride, n)),
                "dnnl_sgemm");
}

}  // namespace tutti::cpu
