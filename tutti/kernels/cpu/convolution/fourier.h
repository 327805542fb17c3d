// SPDX-License-Identifier: Apache-2.0
// Small Fourier transforms (B10–B12) of 2-D real tiles, generic in the element: a vector of 16
// channels in kernels, a double in tests. Forward is decimation in frequency, inverse decimation in
// time, so the order that one leaves is the order that the other wants and no bit reversal takes
// place. Two real rows are transformed as one complex row; rows that are zero are skipped.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace tutti::cpu {

#define TUTTI_ALWAYS_INLINE [[gnu::always_inline]] inline

// Everything about transforms of length n that does not depend on the data.
template <class S>
struct FftPlan {
  int n = 0;
  const S* twiddles = nullptr;     // per stage of length L and j < L/4: w^j, w^2j, w^3j (re, im)
  const S* end = nullptr;          // behind the last twiddle
  const int* positions = nullptr;  // where fft_forward leaves each frequency
  S scale = 0;  // factor for fft_tile_inverse of a product of two transformed tiles

  int half() const { return n / 2 + 1; }  // columns of the transform of a real tile
  std::int64_t coefficients() const { return static_cast<std::int64_t>(half()) * n; }
};

// Fills `positions` with the order that the recursion over radix 4 and 2 leaves.
inline void fft_order(int n, int first, int step, std::vector<int>& positions, int& next) {
  if (n == 1) {
    positions[static_cast<std::size_t>(first)] = next++;
    return;
  }
  const int radix = n == 2 ? 2 : 4;
  for (int q = 0; q < radix; ++q)
    fft_order(n / radix, first + q * step, step * radix, positions, next);
}

// The memory that a plan points to.
template <class S>
struct FftTables {
  int n = 0;
  std::vector<S> twiddles = {};
  std::vector<int> positions = {};

  FftPlan<S> plan() const {
    return {n, twiddles.data(), twiddles.data() + twiddles.size(), positions.data(),
            S(1) / S(4 * n * n)};
  }
};

template <class S>
FftTables<S> make_fft_tables(int n) {
  FftTables<S> plan{.n = n};
  for (int length = n; length >= 4; length /= 4)
    for (int j = 0; j < length / 4; ++j)
      for (int power = 1; power <= 3; ++power) {
        const double angle = -2 * std::numbers::pi * j * power / length;
        plan.twiddles.push_back(static_cast<S>(std::cos(angle)));
        plan.twiddles.push_back(static_cast<S>(std::sin(angle)));
      }
  plan.positions.resize(static_cast<std::size_t>(n));
  int next = 0;
  fft_order(n, 0, 1, plan.positions, next);
  return plan;
}

template <class T>
struct Complex {
  T re, im;
};

template <class T>
TUTTI_ALWAYS_INLINE Complex<T> operator+(const Complex<T>& a, const Complex<T>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
TUTTI_ALWAYS_INLINE Complex<T> operator-(const Complex<T>& a, const Complex<T>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
TUTTI_ALWAYS_INLINE Complex<T> times_i(const Complex<T>& a) {
  return {-a.im, a.re};
}
// a·w, or a·conj(w).
template <bool conjugate, class T, class S>
TUTTI_ALWAYS_INLINE Complex<T> times(const Complex<T>& a, const S* w) {
  if constexpr (conjugate) return {a.re * w[0] + a.im * w[1], a.im * w[0] - a.re * w[1]};
  return {a.re * w[0] - a.im * w[1], a.re * w[1] + a.im * w[0]};
}

// Transforms z in place, from natural order to the order of plan.positions.
template <class T, class S>
TUTTI_ALWAYS_INLINE void fft_forward(const FftPlan<S>& plan, Complex<T>* z) {
  const S* twiddles = plan.twiddles;
  int length = plan.n;
  for (; length >= 4; length /= 4) {
    const int h = length / 4;
    for (int block = 0; block < plan.n; block += length) {
      Complex<T>* at = z + block;
      for (int j = 0; j < h; ++j) {
        const Complex<T> a = at[j], b = at[j + h], c = at[j + 2 * h], d = at[j + 3 * h];
        const Complex<T> t0 = a + c, t1 = a - c, t2 = b + d, t3 = times_i(b - d);
        const S* w = twiddles + 6 * j;
        at[j] = t0 + t2;
        at[j + h] = times<false>(t1 - t3, w);
        at[j + 2 * h] = times<false>(t0 - t2, w + 2);
        at[j + 3 * h] = times<false>(t1 + t3, w + 4);
      }
    }
    twiddles += 6 * h;
  }
  if (length == 2)
    for (int j = 0; j < plan.n; j += 2) {
      const Complex<T> a = z[j], b = z[j + 1];
      z[j] = a + b;
      z[j + 1] = a - b;
    }
}

// The inverse of fft_forward, times n: from the order of plan.positions to natural order.
template <class T, class S>
TUTTI_ALWAYS_INLINE void fft_inverse(const FftPlan<S>& plan, Complex<T>* z) {
  const S* twiddles = plan.end;
  int length = plan.n;
  while (length >= 4) length /= 4;
  if (length == 2)
    for (int j = 0; j < plan.n; j += 2) {
      const Complex<T> a = z[j], b = z[j + 1];
      z[j] = a + b;
      z[j + 1] = a - b;
    }
  for (length *= 4; length <= plan.n; length *= 4) {
    const int h = length / 4;
    twiddles -= 6 * h;
    for (int block = 0; block < plan.n; block += length) {
      Complex<T>* at = z + block;
      for (int j = 0; j < h; ++j) {
        const S* w = twiddles + 6 * j;
        const Complex<T> a = at[j], b = times<true>(at[j + h], w);
        const Complex<T> c = times<true>(at[j + 2 * h], w + 2);
        const Complex<T> d = times<true>(at[j + 3 * h], w + 4);
        const Complex<T> t0 = a + c, t1 = a - c, t2 = b + d, t3 = times_i(b - d);
        at[j] = t0 + t2;
        at[j + h] = t1 + t3;
        at[j + 2 * h] = t0 - t2;
        at[j + 3 * h] = t1 - t3;
      }
    }
  }
}

// How many one-dimensional transforms of length n a complex 2-D transform takes when only `rows`
// rows are not zero: those rows, then all columns.
inline int fft_transforms(int n, int rows) { return rows + n; }

// Transforms a real tile of which only rows [row_begin, row_end) are not zero. load(row, column)
// returns a pixel; store(coefficient, Complex) gets twice the transform. The buffer holds (half +
// 1)·n Complex.
template <class T, class S, class Load, class Store>
TUTTI_ALWAYS_INLINE void fft_tile_forward(const FftPlan<S>& plan, int row_begin, int row_end,
                                          const Load& load, const Store& store,
                                          Complex<T>* buffer) {
  const int n = plan.n, half = plan.half();
  Complex<T>* line = buffer + half * n;
  const int paired_end = row_begin + (row_end - row_begin + 1) / 2 * 2;
  for (int k = 0; k < half; ++k) {
    for (int row = 0; row < row_begin; ++row) buffer[k * n + row] = {T{}, T{}};
    for (int row = paired_end; row < n; ++row) buffer[k * n + row] = {T{}, T{}};
  }
  for (int row = row_begin; row < row_end; row += 2) {
    const bool pair = row + 1 < row_end;
    for (int column = 0; column < n; ++column)
      line[column] = {load(row, column), pair ? load(row + 1, column) : T{}};
    fft_forward(plan, line);
    for (int k = 0; k < half; ++k) {
      const Complex<T> z = line[plan.positions[k]];
      const Complex<T> m = line[plan.positions[(n - k) % n]];
      buffer[k * n + row] = {z.re + m.re, z.im - m.im};
      if (row + 1 < n) buffer[k * n + row + 1] = {z.im + m.im, m.re - z.re};
    }
  }
  for (int k = 0; k < half; ++k) {
    Complex<T>* column = buffer + k * n;
    fft_forward(plan, column);
    for (int p = 0; p < n; ++p) store(k * n + p, column[p]);
  }
}

// The inverse of fft_tile_forward. load(coefficient) returns a Complex; store(row, column, pixel)
// gets the pixels of rows [0, rows), line by line, still to be multiplied by plan.scale.
template <class T, class S, class Load, class Store>
TUTTI_ALWAYS_INLINE void fft_tile_inverse(const FftPlan<S>& plan, int rows, const Load& load,
                                          const Store& store, Complex<T>* buffer) {
  const int n = plan.n, half = plan.half();
  Complex<T>* line = buffer + half * n;
  for (int k = 0; k < half; ++k) {
    Complex<T>* column = buffer + k * n;
    for (int p = 0; p < n; ++p) column[p] = load(k * n + p);
    fft_inverse(plan, column);
  }
  for (int row = 0; row < rows; row += 2) {
    for (int k = 0; k < half; ++k) {
      const Complex<T> a = buffer[k * n + row], b = buffer[k * n + row + 1];
      line[plan.positions[(n - k) % n]] = {a.re + b.im, b.re - a.im};
      line[plan.positions[k]] = {a.re - b.im, a.im + b.re};
    }
    fft_inverse(plan, line);
    for (int column = 0; column < n; ++column) {
      store(row, column, line[column].re);
      if (row + 1 < rows) store(row + 1, column, line[column].im);
    }
  }
}

}  // namespace tutti::cpu
