// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/tucker.h"

#include "tutti/core/error.h"

#include <Eigen/Dense>

namespace tutti {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// w[o, c, k], with all positions of the window as one index k, and its matrices by output and by
// input channel.
struct Kernel {
  std::int64_t o, c, k;
  const double* w;

  Matrix by_output() const { return Eigen::Map<const Matrix>(w, o, c * k); }
  Matrix by_input() const {
    Matrix m(c, o * k);
    for (std::int64_t i = 0; i < o; ++i)
      for (std::int64_t j = 0; j < c; ++j)
        m.row(j).segment(i * k, k) = Eigen::Map<const Eigen::RowVectorXd>(w + (i * c + j) * k, k);
    return m;
  }
};

// The leading left singular vectors of a matrix as rows, largest first, and Σ σ² of the others.
// They are the eigenvectors of m mᵀ, which is small, since there are few channels and many columns.
struct Basis {
  Matrix vectors;
  double discarded = 0;
};
Basis leading(const Matrix& m, std::int64_t rank) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m * m.transpose());
  check(solver.info() == Eigen::Success, "a symmetric matrix has eigenvalues");
  const std::int64_t all = m.rows();  // eigenvalues are in ascending order
  Basis basis{.vectors = solver.eigenvectors().rightCols(rank).rowwise().reverse().transpose()};
  for (std::int64_t i = 0; i < all - rank; ++i)
    basis.discarded += std::max(0.0, solver.eigenvalues()(i));
  return basis;
}

std::vector<double> values_of(const Matrix& m) { return {m.data(), m.data() + m.size()}; }

Shape with_ones(std::int64_t a, std::int64_t b, std::size_t rank) {
  Shape shape(rank, 1);
  shape[0] = a;
  shape[1] = b;
  return shape;
}

}  // namespace

TuckerFactors tucker(const Shape& shape, const std::vector<double>& w, std::int64_t in_rank,
                     std::int64_t out_rank) {
  if (shape.size() < 3)
    throw Error("a tensor {} is no kernel: expected [outputs, inputs, 1 to 3 extents]",
                to_string(shape));
  const Kernel kernel{shape[0], shape[1], elements(shape, 2, shape.size()), w.data()};
  if (in_rank < 1 || in_rank > kernel.c || out_rank < 1 || out_rank > kernel.o)
    throw Error("ranks {} and {} of a kernel {}: expected 1 to {} inputs and 1 to {} outputs",
                in_rank, out_rank, to_string(shape), kernel.c, kernel.o);
  const Basis in = leading(kernel.by_input(), in_rank);
  const Basis out = leading(kernel.by_output(), out_rank);
  // core[s, r, k] = Σ_oc out[s, o] in[r, c] w[o, c, k].
  const Matrix few_outputs = out.vectors * kernel.by_output();
  const Kernel reduced{out_rank, kernel.c, kernel.k, few_outputs.data()};
  const Matrix core_by_input = in.vectors * reduced.by_input();  // [r, s · k]
  const Kernel swapped{in_rank, out_rank, kernel.k, core_by_input.data()};
  TuckerFactors result{.first_shape = with_ones(in_rank, kernel.c, shape.size()),
                       .core_shape = shape,
                       .last_shape = with_ones(kernel.o, out_rank, shape.size()),
                       .first = values_of(in.vectors),
                       .core = values_of(swapped.by_input()),
                       .last = values_of(out.vectors.transpose()),
                       .error_bound = in.discarded + out.discarded};
  result.core_shape[0] = out_rank;
  result.core_shape[1] = in_rank;
  return result;
}

}  // namespace tutti
