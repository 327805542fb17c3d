// SPDX-License-Identifier: Apache-2.0
// Local response normalisation (B36, Krizhevsky et al. 2012): y_c = x_c · b_c^-β with
// b_c = k + α Σ x² over `size` channels around c. α is not divided by the size, as in the paper.
#include "tutti/ops/local_response.h"

#include "tutti/ops/shared/pointwise.h"
#include "tutti/ops/shared/traffic.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tutti::ops {
namespace {

const std::vector<Setting> declared{
    {.name = "size", .initial = std::int64_t{5}, .doc = "channels in a window, odd", .min = 1},
    {.name = "alpha", .initial = 1e-4, .doc = "factor of the sum of squares"},
    {.name = "beta", .initial = 0.75, .doc = "exponent"},
    {.name = "k", .initial = 2.0, .doc = "added to the sum", .min = 0}};

std::vector<Type> infer(const char* name, const Settings& settings, const std::vector<Type>& in) {
  const Type x = infer_pointwise(name, in)[0];
  if (!is_float(x.dtype) || x.shape.size() < 2)
    throw Error("[{}] x is {} {}, expected floating-point [n, c, …]", name, name_of(x.dtype),
                to_string(x.shape));
  if (settings.integer("size") % 2 == 0)
    throw Error("[{}] 'size' is {}, expected an odd number: the window is centred", name,
                settings.integer("size"));
  return {x};
}

// Per element: a sum over the window, a power, a few products.
Cost cost_of(const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out,
             double sums) {
  const auto size = settings.integer("size");
  return with_traffic({.work = sums * static_cast<double>(elements(in[0].shape) * (size + 3)),
                       .depth = 3.0 + sums * log2_ceiling(size)},
                      in, out);
}

// The window reaches into other channels: all dimensions but the channels may be split.
std::string indices(const Shape& shape) {
  std::string text = "n,*";
  for (std::size_t d = 2; d < shape.size(); ++d) text += fmt::format(",{}", "dhwuv"[d - 2]);
  return text;
}

// The channels of one position, along which windows of 2 · reach + 1 channels slide.
struct Line {
  std::int64_t first = 0, stride = 1, channels = 1, reach = 0;

  // Σ of term over the window around channel c.
  template <class Term>
  double around(std::int64_t c, Term&& term) const {
    double sum = 0;
    for (std::int64_t i = std::max<std::int64_t>(0, c - reach);
         i <= std::min(channels - 1, c + reach); ++i)
      sum += term(i);
    return sum;
  }
  std::int64_t at(std::int64_t c) const { return first + c * stride; }
};

template <class Visit>
void for_each_line(const Settings& settings, const Shape& x, Visit&& visit) {
  const std::int64_t inner = elements(x, 2, x.size()), reach = settings.integer("size") / 2;
  for (std::int64_t n = 0; n < x[0]; ++n)
    for (std::int64_t i = 0; i < inner; ++i)
      visit(Line{.first = n * x[1] * inner + i, .stride = inner, .channels = x[1], .reach = reach});
}

struct Constants {
  double alpha, beta, k;
  explicit Constants(const Settings& settings)
      : alpha(settings.real("alpha")), beta(settings.real("beta")), k(settings.real("k")) {}
};

// b_c of the head of this file, for every channel.
template <class T>
std::vector<double> bases(const Constants& constants, const Line& line, const T* x) {
  std::vector<double> b;
  for (std::int64_t c = 0; c < line.channels; ++c)
    b.push_back(constants.k + constants.alpha * line.around(c, [&](std::int64_t i) {
      const double value = static_cast<double>(x[line.at(i)]);
      return value * value;
    }));
  return b;
}

void reference(const Call& call) {
  const Constants constants(call.settings);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* x = call.in[0].as<T>();
    for_each_line(call.settings, call.in[0].shape, [&](const Line& line) {
      const std::vector<double> b = bases(constants, line, x);
      for (std::int64_t c = 0; c < line.channels; ++c)
        call.out[0].as<T>()[line.at(c)] =
            static_cast<T>(static_cast<double>(x[line.at(c)]) *
                           std::pow(b[static_cast<std::size_t>(c)], -constants.beta));
    });
  });
}

// dx_j = dy_j b_j^-β - 2αβ x_j Σ_i dy_i x_i b_i^(-β-1).
void reference_grad(const Call& call) {
  const Constants constants(call.settings);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *dy = call.in[0].as<T>(), *x = call.in[1].as<T>();
    for_each_line(call.settings, call.in[1].shape, [&](const Line& line) {
      const std::vector<double> b = bases(constants, line, x);
      const auto power = [&](std::int64_t i, double e) {
        return std::pow(b[static_cast<std::size_t>(i)], e);
      };
      const auto d = [&](std::int64_t i) { return static_cast<double>(dy[line.at(i)]); };
      const auto a = [&](std::int64_t i) { return static_cast<double>(x[line.at(i)]); };
      for (std::int64_t j = 0; j < line.channels; ++j) {
        const double spread = line.around(
            j, [&](std::int64_t i) { return d(i) * a(i) * power(i, -constants.beta - 1); });
        call.out[0].as<T>()[line.at(j)] =
            static_cast<T>(d(j) * power(j, -constants.beta) -
                           2 * constants.alpha * constants.beta * a(j) * spread);
      }
    });
  });
}

// The gradients of F in dy and x, where F = v · dx = Σ_i dy_i (v_i b_i^-β - 2αβ x_i b_i^(-β-1) P_i)
// with P_i = Σ_j v_j x_j around i.
void reference_grad2(const Call& call) {
  const Constants constants(call.settings);
  const double alpha = constants.alpha, beta = constants.beta, factor = 2 * alpha * beta;
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *v_all = call.in[0].as<T>(), *dy = call.in[1].as<T>(), *x = call.in[2].as<T>();
    for_each_line(call.settings, call.in[2].shape, [&](const Line& line) {
      const std::vector<double> b = bases(constants, line, x);
      const auto power = [&](std::int64_t i, double e) {
        return std::pow(b[static_cast<std::size_t>(i)], e);
      };
      const auto v = [&](std::int64_t i) { return static_cast<double>(v_all[line.at(i)]); };
      const auto d = [&](std::int64_t i) { return static_cast<double>(dy[line.at(i)]); };
      const auto a = [&](std::int64_t i) { return static_cast<double>(x[line.at(i)]); };
      const auto along = [&](std::int64_t i) {
        return line.around(i, [&](std::int64_t j) { return v(j) * a(j); });
      };
      for (std::int64_t m = 0; m < line.channels; ++m) {
        const double p = along(m);
        call.out[0].as<T>()[line.at(m)] =
            static_cast<T>(v(m) * power(m, -beta) - factor * a(m) * power(m, -beta - 1) * p);
        const double through_p =
            line.around(m, [&](std::int64_t i) { return d(i) * a(i) * power(i, -beta - 1); });
        const double through_b = line.around(m, [&](std::int64_t i) {
          return d(i) * (factor * (beta + 1) * a(i) * along(i) * power(i, -beta - 2) -
                         beta * v(i) * power(i, -beta - 1));
        });
        call.out[1].as<T>()[line.at(m)] =
            static_cast<T>(-factor * (d(m) * power(m, -beta - 1) * p + v(m) * through_p) +
                           2 * alpha * a(m) * through_b);
      }
    });
  });
}

std::vector<OpCase> cases(std::size_t arity) {
  const auto one = [&](std::int64_t size, double alpha, Shape shape) {
    return OpCase{{{"size", size}, {"alpha", alpha}},
                  std::vector<Type>(arity, {DType::f64, std::move(shape)})};
  };
  return {one(5, 1e-4, {2, 7, 2, 3}), one(3, 0.5, {2, 4, 3}), one(5, 0.3, {3, 3}),
          one(1, 0.5, {2, 3, 2, 2})};
}

}  // namespace

const Op local_response{
    .name = "local_response",
    .doc = "y = x / (k + alpha · Σ x² over `size` channels)^beta",
    .settings = declared,
    .infer = [](const Settings& settings,
                const std::vector<Type>& in) { return infer("local_response", settings, in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(local_response_grad, {dy[0], node.inputs[0]}, node.settings);
        },
    .cost = [](const Settings& settings, const std::vector<Type>& in,
               const std::vector<Type>& out) { return cost_of(settings, in, out, 1); },
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          const std::string x = indices(in[0].shape);
          return fmt::format("x[{}] -> y[{}]", x, x);
        },
    .reference = reference,
    .cases = [] { return cases(1); },
};

const Op local_response_grad{
    .name = "local_response_grad",
    .doc = "dx of local_response",
    .settings = declared,
    .infer = [](const Settings& settings,
                const std::vector<Type>& in) { return infer("local_response_grad", settings, in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          return graph.add(local_response_grad2, {v[0], node.inputs[0], node.inputs[1]},
                           node.settings);
        },
    .cost = [](const Settings& settings, const std::vector<Type>& in,
               const std::vector<Type>& out) { return cost_of(settings, in, out, 2); },
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          const std::string x = indices(in[0].shape);
          return fmt::format("dy[{}] x[{}] -> dx[{}]", x, x, x);
        },
    .reference = reference_grad,
    .cases = [] { return cases(2); },
};

const Op local_response_grad2{
    .name = "local_response_grad2",
    .doc = "the gradient of v · local_response_grad in dy and x",
    .settings = declared,
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Type x = infer("local_response_grad2", settings, in)[0];
          return std::vector<Type>{x, x};
        },
    .undifferentiable = "local response normalisation has no third derivative here",
    .cost = [](const Settings& settings, const std::vector<Type>& in,
               const std::vector<Type>& out) { return cost_of(settings, in, out, 5); },
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          const std::string x = indices(in[0].shape);
          return fmt::format("v[{}] dy[{}] x[{}] -> in_dy[{}] in_x[{}]", x, x, x, x, x);
        },
    .reference = reference_grad2,
    .cases = [] { return cases(3); },
};

}  // namespace tutti::ops
