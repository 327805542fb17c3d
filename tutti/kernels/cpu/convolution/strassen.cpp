// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/convolution/strassen.h"

namespace tutti::cpu {
namespace {

using Const = StridedMatrix<const float>;

Const strided(const Matrix& matrix) {
  return matrix.transposed ? Const{matrix.data, 1, matrix.stride}
                           : Const{matrix.data, matrix.stride, 1};
}

// oneDNN's view of a matrix of which one of the two strides is 1.
Matrix matrix_of(const Const& view) {
  return view.column == 1 ? Matrix{view.data, view.row} : Matrix{view.data, view.column, true};
}

}  // namespace

void strassen_product(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                      const Matrix& b, float beta, float* c, std::int64_t c_stride,
                      std::int64_t cutoff, float* scratch) {
  strassen<float>(m, n, k, strided(a), strided(b), beta != 0, {c, c_stride, 1}, cutoff, scratch,
                  [](std::int64_t lm, std::int64_t ln, std::int64_t lk, const Const& la,
                     const Const& lb, bool add, const StridedMatrix<float>& lc) {
                    product(lm, ln, lk, matrix_of(la), matrix_of(lb), add ? 1.0f : 0.0f, lc.data,
                            lc.row);
                  });
}

}  // namespace tutti::cpu
