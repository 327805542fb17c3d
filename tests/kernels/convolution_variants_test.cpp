// SPDX-License-Identifier: Apache-2.0
// Every variant of convolution against the definition, and what each is known for: memory of
// im2col, kn2row and implicit GEMM, products of Strassen, Fourier transforms and Winograd.
#include "tutti/kernels/backends.h"
#include "tutti/kernels/cpu/convolution/columns.h"
#include "tutti/kernels/cpu/convolution/strassen.h"
#include "tutti/kernels/cpu/convolution/tiled.h"
#include "tutti/kernels/cpu/convolution/winograd.h"
#include "tutti/ops/convolution.h"

#include "contract/interpreter.h"
#include "contract/one_node.h"

#include <gtest/gtest.h>

#include <atomic>
#include <complex>
#include <numeric>

namespace tutti::cpu {
namespace {

using contract::Array;

// A convolution and its gradients as nodes of a graph.
struct Trio {
  Graph graph;
  Trio(const Shape& x_shape, const Shape& w_shape, const Settings& settings) {
    const ValueId x = graph.add_value("x", {DType::f32, x_shape});
    const ValueId w = graph.add_value("w", {DType::f32, w_shape});
    graph.add1(ops::convolution, {x, w}, settings);
    const Node forward = graph.nodes[0];
    const ValueId dy = graph.add_value("dy", graph.type(forward.outputs[0]));
    ops::convolution.gradient(graph, forward, {dy});
  }
};

const Implementation* find(const KernelTable& table, const Node& node, const std::string& name) {
  for (const Implementation& one : table.by_op.at(node.op->name))
    if (one.name == name) return &one;
  return nullptr;
}

std::int64_t scratch(const std::string& variant, const Shape& x, const Shape& w,
                     const Settings& settings, std::size_t node = 0) {
  const Trio trio(x, w, settings);
  const KernelTable table = cpu_kernels();
  return find(table, trio.graph.nodes[node], variant)
      ->scratch_bytes(trio.graph, trio.graph.nodes[node]);
}

// B05–B13: twenty random shapes with stride, padding, dilation and groups, all three directions.
TEST(ConvolutionVariants, B06RandomShapesGiveTheDefinition) {
  const KernelTable table = cpu_kernels();
  std::map<std::string, int> runs;
  for (std::uint64_t k = 0; k < 20; ++k) {
    const auto pick = [&](std::uint64_t what, std::int64_t low, std::int64_t high) {
      return low + static_cast<std::int64_t>(draw(fold(5, k), what) >> 33) % (high - low + 1);
    };
    const bool simple = k % 2 == 0;  // what Winograd and FFT can do
    const std::int64_t groups = simple ? 1 : pick(0, 1, 2);
    const Shape kernel = simple && k % 4 == 0 ? Shape{3, 3} : Shape{pick(1, 1, 5), pick(2, 1, 5)};
    const Shape padding = {pick(3, 0, kernel[0] - 1), pick(4, 0, kernel[1] - 1)};
    const Settings settings = {{"padding", padding},
                               {"groups", groups},
                               {"stride", simple ? Shape{1} : Shape{pick(5, 1, 3), pick(6, 1, 2)}},
                               {"dilation", simple ? Shape{1} : Shape{pick(7, 1, 2)}}};
    const std::int64_t c = groups * pick(8, 1, 9), o = groups * pick(9, 1, 20);
    const Shape x{pick(10, 1, 3), c, pick(11, 10, 24), pick(12, 10, 24)};
    const Trio trio(x, {o, c / groups, kernel[0], kernel[1]}, settings);
    for (const Node& node : trio.graph.nodes) {
      std::vector<Array> in;
      for (const Type& type : trio.graph.types(node.inputs))
        in.push_back(contract::random_array(type, fold(k, in.size())));
      const std::vector<Array> expected = contract::run_reference(*node.op, node.settings, in);
      for (const Implementation* one : table.supporting(trio.graph, node)) {
        Settings named = node.settings;
        named.set("variant", one->name);
        contract::OneNode run(*node.op, named, in, table, 2);
        EXPECT_EQ(run.program().implementation(run.step()), one->name);
        run.run();
        // F(6) loses two digits; all others stay near the rounding of float sums.
        EXPECT_LE(contract::difference(run.outputs()[0], expected[0]),
                  one->name == "winograd-f6" ? 1e-4 : 1e-5)
            << node.op->name << " by " << one->name << " " << to_string(x) << " "
            << to_string(trio.graph.shape(trio.graph.nodes[0].inputs[1]));
        ++runs[one->name];
      }
    }
  }
  for (const auto& one : table.by_op.at("convolution"))
    EXPECT_GE(runs[one.name], one.name.starts_with("onednn") ? 0 : 12) << one.name;
}

// B05: rows longer than a vector, kernels wider than its registers hold, and what follows the sum.
TEST(ConvolutionVariants, B05RowsFinishWithBiasAndActivation) {
  const KernelTable table = cpu_kernels();
  const std::vector<Array> in = {contract::random_array({DType::f32, {3, 3, 9, 40}}, 1),
                                 contract::random_array({DType::f32, {7, 3, 2, 7}}, 2),
                                 contract::random_array({DType::f32, {7}}, 3),
                                 contract::random_array({DType::f32, {3, 7, 8, 34}}, 4)};
  for (const char* activation : {"none", "relu", "leaky_relu"})
    for (const std::size_t operands : {2, 3, 4}) {
      const std::vector<Array> given(in.begin(),
                                     in.begin() + static_cast<std::ptrdiff_t>(operands));
      Settings settings = resolve(ops::convolution.settings,
                                  {{"activation", std::string(activation)}, {"slope", 0.1}}, "");
      const Array expected = contract::run_reference(ops::convolution, settings, given)[0];
      for (const char* variant : {"rows", "im2col"}) {
        settings.set("variant", std::string(variant));
        contract::OneNode run(ops::convolution, settings, given, table, 2);
        run.run();
        EXPECT_LE(contract::difference(run.outputs()[0], expected), 1e-5)
            << variant << " with " << activation << " and " << operands;
      }
    }
}

TEST(ConvolutionVariants, B06ColumnsAreAdjointAndExactlyTheMatrix) {
  const Sizes s{.n = 1,
                .c = 3,
                .o = 1,
                .h = 7,
                .w = 6,
                .oh = 4,
                .ow = 3,
                .kh = 3,
                .kw = 2,
                .stride_h = 2,
                .stride_w = 2,
                .padding_h = 1,
                .padding_w = 0};
  const auto count = static_cast<std::size_t>(s.c * s.kernel() * s.pixels());
  const Array x = contract::random_array({DType::f32, {3, 7, 6}}, 1);
  const Array u = contract::random_array({DType::f32, {static_cast<std::int64_t>(count)}}, 2);
  std::vector<float> columns(count), back(3 * 7 * 6);
  to_columns(s, {3, 0, s.pixels()}, x.as<float>(), columns.data());
  from_columns(s, {3, 0, s.pixels()}, u.as<float>(), back.data());
  double left = 0, right = 0;
  for (std::size_t i = 0; i < count; ++i)
    left += static_cast<double>(columns[i]) * u.get(static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < back.size(); ++i)
    right += static_cast<double>(back[i]) * x.get(static_cast<std::int64_t>(i));
  EXPECT_NEAR(left, right, 1e-5);
  // 4·N·H'·W'·Cin·Ky·Kx
  for (const std::size_t direction : {0, 1, 2})
    EXPECT_EQ(scratch("im2col", {5, 4, 9, 8}, {6, 4, 3, 2}, {{"padding", Shape{1}}}, direction),
              4 * 5 * 9 * 9 * 4 * 3 * 2);
}

TEST(ConvolutionVariants, B07Kn2rowNeedsNoMoreThanOneResult) {
  for (const std::int64_t n : {1, 2, 16})
    for (const std::size_t direction : {0, 1, 2})
      EXPECT_LE(
          scratch("kn2row", {n, 32, 14, 12}, {48, 32, 3, 3}, {{"padding", Shape{1}}}, direction),
          4 * n * 48 * 14 * 12);
}

TEST(ConvolutionVariants, B08ImplicitNeedsATileWhateverTheBatch) {
  for (const std::size_t direction : {0, 1, 2}) {
    const auto bytes = [&](std::int64_t n) {
      return scratch("implicit", {n, 64, 56, 56}, {64, 64, 3, 3}, {{"padding", Shape{1}}},
                     direction);
    };
    EXPECT_EQ(bytes(1), bytes(64));
    EXPECT_LT(bytes(64), scratch("im2col", {1, 64, 56, 56}, {64, 64, 3, 3}, {}) / 4);
  }
}

// B09: exact on integers, and 7/8 of the multiplications per level.
TEST(Strassen, B09IntegersAreExactAndMultiplicationsFall) {
  const double percent[] = {12.5, 23.4, 33.0, 41.4, 48.7};
  for (int levels = 0; levels <= 5; ++levels) {
    const std::int64_t n = 64;
    std::vector<std::int64_t> a(n * n), b(n * n), c(n * n, 7), expected(n * n);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<std::int64_t>(draw(1, i) % 19) - 9;
      b[i] = static_cast<std::int64_t>(draw(2, i) % 19) - 9;
    }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = 0; k < n; ++k)
          expected[static_cast<std::size_t>(i * n + j)] +=
              a[static_cast<std::size_t>(i * n + k)] * b[static_cast<std::size_t>(k * n + j)];
    std::int64_t multiplications = 0;
    const std::int64_t cutoff = levels == 0 ? n + 1 : (n >> levels) + 1;
    std::vector<std::int64_t> own(static_cast<std::size_t>(strassen_scratch(n, n, n, cutoff)));
    strassen<std::int64_t>(n, n, n, {a.data(), n, 1}, {b.data(), n, 1}, false, {c.data(), n, 1},
                           cutoff, own.data(),
                           [&](std::int64_t m, std::int64_t columns, std::int64_t inner, auto x,
                               auto y, bool add, auto z) {
                             multiplications += m * columns * inner;
                             for (std::int64_t i = 0; i < m; ++i)
                               for (std::int64_t j = 0; j < columns; ++j) {
                                 std::int64_t sum = add ? z(i, j) : 0;
                                 for (std::int64_t k = 0; k < inner; ++k) sum += x(i, k) * y(k, j);
                                 z(i, j) = sum;
                               }
                           });
    EXPECT_EQ(c, expected) << levels;
    const double saved = 100 * (1 - static_cast<double>(multiplications) / (n * n * n));
    EXPECT_NEAR(saved, levels == 0 ? 0 : percent[levels - 1], 0.05);
  }
}

TEST(Strassen, B09OddSizesTransposesAndSums) {
  for (const auto& [m, n, k] : {std::tuple(33, 21, 17), {16, 16, 16}, {40, 9, 31}})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        const Array a = contract::random_array({DType::f32, {m, k}}, 1);
        const Array b = contract::random_array({DType::f32, {k, n}}, 2);
        Array plain({DType::f32, {m, n}}), fast({DType::f32, {m, n}});
        const Matrix x{a.as<float>(), ta ? m : k, ta}, y{b.as<float>(), tb ? k : n, tb};
        std::vector<float> own(static_cast<std::size_t>(strassen_scratch(m, n, k, 4)) + 1);
        for (const float beta : {0.0f, 1.0f}) {
          product(m, n, k, x, y, beta, plain.as<float>(), n);
          strassen_product(m, n, k, x, y, beta, fast.as<float>(), n, 4, own.data());
          EXPECT_LE(contract::difference(fast, plain), 1e-5);
        }
      }
}

using Double2 = Complex<double>;

// B11: forward leaves frequency k at positions[k], inverse takes it from there; nothing is swapped.
TEST(Fft, B11OrdersCancel) {
  for (const int n : {4, 8, 16, 32, 64}) {
    const FftTables<double> tables = make_fft_tables<double>(n);
    const FftPlan<double> plan = tables.plan();
    std::vector<Double2> z(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = {normal(1, i), normal(2, i)};
    const std::vector<Double2> before = z;
    fft_forward(plan, z.data());
    for (int k = 0; k < n; ++k) {
      std::complex<double> sum;
      for (int j = 0; j < n; ++j)
        sum += std::complex(before[static_cast<std::size_t>(j)].re,
                            before[static_cast<std::size_t>(j)].im) *
               std::polar(1.0, -2 * std::numbers::pi * j * k / n);
      const Double2& found = z[static_cast<std::size_t>(plan.positions[k])];
      EXPECT_NEAR(found.re, sum.real(), 1e-12 * n);
      EXPECT_NEAR(found.im, sum.imag(), 1e-12 * n);
    }
    fft_inverse(plan, z.data());
    for (std::size_t i = 0; i < z.size(); ++i) {
      EXPECT_NEAR(z[i].re / n, before[i].re, 1e-13);
      EXPECT_NEAR(z[i].im / n, before[i].im, 1e-13);
    }
  }
}

std::vector<Double2> tile_transform(const FftPlan<double>& plan, const std::vector<double>& tile,
                                    int rows) {
  std::vector<Double2> all(static_cast<std::size_t>(plan.coefficients()));
  std::vector<Double2> buffer(all.size() + static_cast<std::size_t>(plan.n));
  fft_tile_forward<double>(
      plan, 0, rows, [&](int r, int c) { return tile[static_cast<std::size_t>(r * plan.n + c)]; },
      [&](int f, const Double2& z) { all[static_cast<std::size_t>(f)] = z; }, buffer.data());
  return all;
}

// B10 in double, with erratum 7 (conj W, and only the valid part): 1e-11. B12: a kernel of which
// zero rows are skipped has the same transform, bit for bit.
TEST(Fft, B10CorrelationInDoubleAndB12PrunedRows) {
  for (const int n : {16, 32, 64})
    for (const int k : {3, 5, 11}) {
      const FftTables<double> tables = make_fft_tables<double>(n);
      const FftPlan<double> plan = tables.plan();
      const auto pixels = static_cast<std::size_t>(n * n);
      std::vector<double> x(pixels), w(pixels, 0.0), y(pixels, 0.0);
      for (std::size_t i = 0; i < pixels; ++i) x[i] = normal(3, i);
      for (int r = 0; r < k; ++r)
        for (int c = 0; c < k; ++c)
          w[static_cast<std::size_t>(r * n + c)] = normal(4, static_cast<std::uint64_t>(r * k + c));
      const std::vector<Double2> fx = tile_transform(plan, x, n), fw = tile_transform(plan, w, k);
      const std::vector<Double2> whole = tile_transform(plan, w, n);
      for (std::size_t f = 0; f < fw.size(); ++f)
        ASSERT_TRUE(fw[f].re == whole[f].re && fw[f].im == whole[f].im) << n << " " << k;
      std::vector<Double2> buffer(fx.size() + static_cast<std::size_t>(n));
      const int m = n - k + 1;
      fft_tile_inverse<double>(
          plan, m,
          [&](int f) {
            const Double2 a = fx[static_cast<std::size_t>(f)], b = fw[static_cast<std::size_t>(f)];
            return Double2{a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
          },
          [&](int r, int c, double v) { y[static_cast<std::size_t>(r * n + c)] = v * plan.scale; },
          buffer.data());
      for (int r = 0; r < m; ++r)
        for (int c = 0; c < m; ++c) {
          double sum = 0;
          for (int i = 0; i < k; ++i)
            for (int j = 0; j < k; ++j)
              sum += x[static_cast<std::size_t>((r + i) * n + c + j)] *
                     w[static_cast<std::size_t>(i * n + j)];
          ASSERT_NEAR(y[static_cast<std::size_t>(r * n + c)], sum, 1e-11);
        }
    }
}

// B12 and erratum 23: 52.3 % of the one-dimensional transforms, 1.91×, in two dimensions.
TEST(Fft, B12TransformsNeeded) {
  EXPECT_NEAR(100.0 * fft_transforms(64, 3) / fft_transforms(64, 64), 52.3, 0.05);
  EXPECT_NEAR(1.0 * fft_transforms(64, 64) / fft_transforms(64, 3), 1.91, 0.005);
}

std::atomic<std::int64_t> kernel_transforms;

// B10: kernels are transformed once for the whole minibatch.
TEST(Fft, B10KernelsAreTransformedOncePerMinibatch) {
  const Sizes s{.n = 9, .c = 32, .o = 16, .h = 40, .w = 40, .oh = 36, .ow = 36, .kh = 5, .kw = 5};
  static const ToPlanes inner = fft_tiling(16).transforms->kernel;
  TileTransforms counting = *fft_tiling(16).transforms;
  counting.kernel = [](const FftPlan<float>& plan, const TileSource& from,
                       const TilePlanes<float>& to, float* buffer) {
    kernel_transforms += lanes;
    inner(plan, from, to, buffer);
  };
  Tiling tiling = fft_tiling(16);
  tiling.transforms = &counting;
  const auto floats =
      static_cast<std::size_t>(tiled_scratch_floats(s, Direction::forward, tiling, 2) + 16);
  std::vector<float> x(static_cast<std::size_t>(s.n * s.c * s.image()), 1.0f),
      w(static_cast<std::size_t>(s.o * s.c * s.kernel()), 1.0f),
      y(static_cast<std::size_t>(s.n * s.o * s.pixels())), scratch_memory(floats);
  float* aligned = scratch_memory.data();
  while (reinterpret_cast<std::uintptr_t>(aligned) % 64 != 0) ++aligned;
  kernel_transforms = 0;
  tiled_run(s, Direction::forward, tiling, {x.data(), w.data(), y.data()}, aligned, 2);
  EXPECT_EQ(kernel_transforms, s.c * s.o);
  for (const float v : y) ASSERT_NEAR(v, 32 * 25, 0.02);
}

// B10: the printed ratio of work, N = 32, C = 64, 64×64, c = 5.
TEST(Fft, B10WorkRatioOfTheSurvey) {
  for (const auto& [k, ratio] : {std::pair(3, 1.78), {5, 4.63}, {7, 8.47}, {11, 18.1}}) {
    const double n = 32, c = 64, side = 64, out = side - k + 1;
    const double direct = n * c * c * out * out * k * k;
    const double transform = 5 * side * side * std::log2(side * side);
    const double fft = transform * (c * c + 2 * c * n) + side * side * n * c * c;
    EXPECT_NEAR(direct / fft, ratio, 0.005 * ratio);
  }
}

// Rational numbers, for exactness.
struct Rational {
  std::int64_t a = 0, b = 1;
  Rational() = default;
  Rational(std::int64_t numerator, std::int64_t denominator = 1) : a(numerator), b(denominator) {
    const std::int64_t g = std::gcd(a, b);
    a /= g, b /= g;
    if (b < 0) a = -a, b = -b;
  }
  friend Rational operator+(Rational x, Rational y) {
    const std::int64_t g = std::gcd(x.b, y.b);
    return {x.a * (y.b / g) + y.a * (x.b / g), x.b / g * y.b};
  }
  friend Rational operator*(Rational x, Rational y) {
    const Rational p(x.a, y.b), q(y.a, x.b);
    return {p.a * q.a, p.b * q.b};
  }
  friend Rational operator/(Rational x, Rational y) { return x * Rational(y.b, y.a); }
  bool operator==(const Rational&) const = default;
};

// B13: exact, with α² products for a tile instead of 9·m².
template <int m>
void expect_exact() {
  constexpr int n = m + 2;
  Rational x[n * n], w[9], fx[n * n], fw[n * n], y[m * m];
  for (int i = 0; i < n * n; ++i)
    x[i] = static_cast<std::int64_t>(draw(1, static_cast<std::uint64_t>(i)) % 9) - 4;
  for (int i = 0; i < 9; ++i)
    w[i] = static_cast<std::int64_t>(draw(2, static_cast<std::uint64_t>(i)) % 9) - 4;
  winograd_transform<Rational, false>(Winograd<m>::b, x, fx);
  winograd_transform<Rational, false>(Winograd<m>::g, w, fw);
  int products = 0;
  for (int i = 0; i < n * n; ++i, ++products) fx[i] = fx[i] * fw[i];
  winograd_transform<Rational, false>(Winograd<m>::a, fx, y);
  for (int r = 0; r < m; ++r)
    for (int c = 0; c < m; ++c) {
      Rational sum;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) sum = sum + x[(r + i) * n + c + j] * w[i * 3 + j];
      EXPECT_EQ(y[r * m + c], sum) << "F(" << m << ") at " << r << ", " << c;
    }
  EXPECT_EQ(products, (m + 2) * (m + 2));
  EXPECT_EQ(winograd_tiling(m).coefficients, products);
}

TEST(WinogradTransform, B13ExactInRationalArithmetic) {
  expect_exact<2>();
  expect_exact<4>();
  expect_exact<6>();
}

// B13: largest errors in float, Cin = 64 and N(0,1): about 3e-5, 3e-4, 7e-4, growing with m.
TEST(WinogradTransform, B13ErrorGrowsWithTheTile) {
  const Type x{DType::f32, {2, 64, 40, 40}}, w{DType::f32, {16, 64, 3, 3}};
  std::vector<Array> in = {Array(x), Array(w)};
  for (std::size_t k = 0; k < 2; ++k)
    for (std::int64_t i = 0; i < in[k].count(); ++i)
      in[k].set(i, normal(k + 1, static_cast<std::uint64_t>(i)));
  const Settings settings = resolve(ops::convolution.settings, {}, "");
  std::vector<Array> doubles;
  for (const Array& array : in) doubles.push_back(contract::converted(array, DType::f64));
  const Array exact = contract::run_reference(ops::convolution, settings, doubles)[0];
  const KernelTable table = cpu_kernels();
  std::vector<double> errors;
  for (const char* name : {"winograd-f2", "winograd", "winograd-f6"}) {
    Settings named = settings;
    named.set("variant", name);
    contract::OneNode run(ops::convolution, named, in, table);
    run.run();
    const Array y = run.outputs()[0];
    double worst = 0;
    for (std::int64_t i = 0; i < y.count(); ++i)
      worst = std::max(worst, std::abs(y.get(i) - exact.get(i)));
    errors.push_back(worst);
  }
  EXPECT_LT(errors[0], 1e-4);
  EXPECT_LT(errors[1], 1e-3);
  EXPECT_LT(errors[2], 3e-3);
  EXPECT_LT(errors[0], errors[1]);
  EXPECT_LT(errors[1], errors[2]);
}

}  // namespace
}  // namespace tutti::cpu
