// SPDX-License-Identifier: Apache-2.0
// Strassen's matrix product (B09): per level seven products of half the size and 18 additions
// instead of eight products, so multiplications fall by 1/8 each level. A last odd row, column or
// summand is computed apart. The element is a template parameter, so that tests can count
// operations and be exact.
#pragma once

#include "tutti/kernels/cpu/convolution/product.h"

#include <algorithm>
#include <cstdint>

namespace tutti::cpu {

// A matrix with a stride between rows and a stride between columns.
template <class T>
struct StridedMatrix {
  T* data = nullptr;
  std::int64_t row = 0, column = 1;
  T& operator()(std::int64_t i, std::int64_t j) const { return data[i * row + j * column]; }
  StridedMatrix at(std::int64_t i, std::int64_t j) const {
    return {&data[i * row + j * column], row, column};
  }
};

// The elements of scratch memory that a product needs: two sums and a product of half the size for
// each level.
inline std::int64_t strassen_scratch(std::int64_t m, std::int64_t n, std::int64_t k,
                                     std::int64_t cutoff) {
  if (std::min({m, n, k}) < std::max<std::int64_t>(cutoff, 2)) return 0;
  m /= 2, n /= 2, k /= 2;
  return m * k + k * n + m * n + strassen_scratch(m, n, k, cutoff);
}

// c = a·b + (add ? c : 0), with c[m×n] row-major. leaf(m, n, k, a, b, add, c) computes products
// smaller than the cutoff.
template <class T, class Leaf>
void strassen(std::int64_t m, std::int64_t n, std::int64_t k, StridedMatrix<const T> a,
              StridedMatrix<const T> b, bool add, StridedMatrix<T> c, std::int64_t cutoff,
              T* scratch, const Leaf& leaf) {
  using Const = StridedMatrix<const T>;
  if (std::min({m, n, k}) < std::max<std::int64_t>(cutoff, 2)) return leaf(m, n, k, a, b, add, c);
  const std::int64_t hm = m / 2, hn = n / 2, hk = k / 2;
  const StridedMatrix<T> sa{scratch, hk}, sb{sa.data + hm * hk, hn}, p{sb.data + hk * hn, hn};
  T* const rest = p.data + hm * hn;
  const Const a11 = a, a12 = a.at(0, hk), a21 = a.at(hm, 0), a22 = a.at(hm, hk);
  const Const b11 = b, b12 = b.at(0, hn), b21 = b.at(hk, 0), b22 = b.at(hk, hn);
  const StridedMatrix<T> c11 = c, c12 = c.at(0, hn), c21 = c.at(hm, 0), c22 = c.at(hm, hn);
  if (!add)
    for (std::int64_t i = 0; i < 2 * hm; ++i)
      for (std::int64_t j = 0; j < 2 * hn; ++j) c(i, j) = T{0};

  const auto sum = [](std::int64_t rows, std::int64_t columns, Const x, Const y, int sign,
                      StridedMatrix<T> to) -> Const {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        to(i, j) = sign > 0 ? x(i, j) + y(i, j) : x(i, j) - y(i, j);
    return {to.data, to.row, to.column};
  };
  const auto multiply = [&](Const x, Const y) {
    strassen<T>(hm, hn, hk, x, y, false, p, cutoff, rest, leaf);
  };
  const auto add_to = [&](StridedMatrix<T> to, int sign) {
    for (std::int64_t i = 0; i < hm; ++i)
      for (std::int64_t j = 0; j < hn; ++j) to(i, j) += sign > 0 ? p(i, j) : -p(i, j);
  };
  multiply(sum(hm, hk, a11, a22, 1, sa), sum(hk, hn, b11, b22, 1, sb));
  add_to(c11, 1), add_to(c22, 1);
  multiply(sum(hm, hk, a21, a22, 1, sa), b11);
  add_to(c21, 1), add_to(c22, -1);
  multiply(a11, sum(hk, hn, b12, b22, -1, sb));
  add_to(c12, 1), add_to(c22, 1);
  multiply(a22, sum(hk, hn, b21, b11, -1, sb));
  add_to(c11, 1), add_to(c21, 1);
  multiply(sum(hm, hk, a11, a12, 1, sa), b22);
  add_to(c11, -1), add_to(c12, 1);
  multiply(sum(hm, hk, a21, a11, -1, sa), sum(hk, hn, b11, b12, 1, sb));
  add_to(c22, 1);
  multiply(sum(hm, hk, a12, a22, -1, sa), sum(hk, hn, b21, b22, 1, sb));
  add_to(c11, 1);

  if (k % 2 == 1) leaf(2 * hm, 2 * hn, 1, a.at(0, 2 * hk), b.at(2 * hk, 0), true, c);
  if (n % 2 == 1) leaf(2 * hm, 1, k, a, b.at(0, 2 * hn), add, c.at(0, 2 * hn));
  if (m % 2 == 1) leaf(1, n, k, a.at(2 * hm, 0), b, add, c.at(2 * hm, 0));
}

// c = a·b + beta·c in float, beta 0 or 1, with oneDNN's products below the cutoff.
void strassen_product(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                      const Matrix& b, float beta, float* c, std::int64_t c_stride,
                      std::int64_t cutoff, float* scratch);

}  // namespace tutti::cpu
