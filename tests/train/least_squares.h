// SPDX-License-Identifier: Apache-2.0
// Least squares LS(n, d) as a recipe, one linear layer without bias, and its optimum by the normal
// equations. The loss is the mean of squares without ½, so that η = 0.02 is a rate of 0.01.
#pragma once

#include "tutti/recipe/make_job.h"

#include "temporary_folder.h"

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace tutti {

using Vector = std::vector<double>;

// LS(100, 10), one sample a step; each change is "table.key=value".
inline Job least_squares_job(const TemporaryFolder& folder,
                             const std::vector<std::string>& changes) {
  Recipe recipe = parse_recipe(R"([data]
name = "synthetic"
shape = [10]
targets = 1
count = 100
test_count = 10
noise = 1
seed = 1
[train]
batch = 1
order = "replacement"
dtype = "f64"
evaluate_every = 0
[optimizer]
rule = "sgd"
rate = 0.01
[[model.layers]]
type = "linear"
units = 1
bias = false
init = "zero"
[machine]
backend = "reference"
threads = 1
)",
                               "least_squares.toml");
  set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
  set(recipe, "train.record=none");
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

inline double dot(const double* a, const Vector& b) {
  return std::inner_product(b.begin(), b.end(), a, 0.0);
}

inline double length_between(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

// Elimination without pivots: the matrix is positive definite.
inline Vector solve(std::vector<Vector> a, Vector b) {
  for (std::size_t k = 0; k < b.size(); ++k)
    for (std::size_t r = 0; r < b.size(); ++r) {
      if (r == k) continue;
      const double factor = a[r][k] / a[k][k];
      for (std::size_t c = k; c < b.size(); ++c) a[r][c] -= factor * a[k][c];
      b[r] -= factor * b[k];
    }
  for (std::size_t k = 0; k < b.size(); ++k) b[k] /= a[k][k];
  return b;
}

struct LeastSquares {
  std::size_t samples = 0, features = 0;
  Vector x, y, optimum;

  explicit LeastSquares(const Job& job) {
    const auto dataset = open_data(job, data::Split::train);
    samples = static_cast<std::size_t>(dataset->count);
    features = static_cast<std::size_t>(elements(dataset->sample_shape()));
    x.resize(samples * features);
    y.resize(samples);
    std::vector<std::int64_t> indices(samples);
    std::iota(indices.begin(), indices.end(), 0);
    dataset->read(indices, {.dtype = DType::f64, .fields = {x.data(), y.data()}});
    std::vector<Vector> products(features, Vector(features));
    Vector right(features);
    for (std::size_t i = 0; i < samples; ++i)
      for (std::size_t j = 0; j < features; ++j) {
        right[j] += row(i)[j] * y[i];
        for (std::size_t k = 0; k < features; ++k) products[j][k] += row(i)[j] * row(i)[k];
      }
    optimum = solve(products, right);
  }
  const double* row(std::size_t i) const { return x.data() + i * features; }
  // Of the mean of (x·w − y)².
  Vector gradient(const Vector& w) const {
    Vector g(features);
    for (std::size_t i = 0; i < samples; ++i)
      for (std::size_t j = 0; j < features; ++j)
        g[j] += 2 * (dot(row(i), w) - y[i]) * row(i)[j] / static_cast<double>(samples);
    return g;
  }
  // Of the mean of ½ (x·w − y)², without cancellation.
  double gap(Vector w) const {
    for (std::size_t j = 0; j < features; ++j) w[j] -= optimum[j];
    double sum = 0;
    for (std::size_t i = 0; i < samples; ++i) sum += dot(row(i), w) * dot(row(i), w) / 2;
    return sum / static_cast<double>(samples);
  }
};

}  // namespace tutti
