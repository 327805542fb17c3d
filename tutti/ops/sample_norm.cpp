// SPDX-License-Identifier: Apache-2.0
// Normalisation within samples: x̂ = (x - mean) · r with r = 1 / √(variance + ε) over each row of a
// sample, then y = gain · x̂ + shift. Without `center` the mean is left in and r = 1 / √(mean of x²
// + ε). The Jacobian J of x̂ is symmetric, J h = r (h - mean h - x̂ · mean(h x̂)), so dx is J
// applied to gain · dy. Statistics are cheap to recompute while a row is in the cache, so none are
// kept.
#include "tutti/ops/sample_norm.h"

#include "tutti/ops/shared/axis.h"
#include "tutti/ops/shared/traffic.h"
#include "tutti/ops/shared/window.h"

#include <algorithm>
#include <cmath>

namespace tutti::ops {
namespace {

std::vector<Setting> settings_with(std::vector<Setting> more) {
  std::vector<Setting> all{
      {.name = "axis",
       .initial = std::int64_t{1},
       .doc = "first dimension that is normalised; negative ones count from the last"},
      {.name = "groups",
       .initial = std::int64_t{1},
       .doc = "that dimension falls into this many parts, each normalised by itself",
       .min = 1},
      {.name = "center", .initial = true, .doc = "subtract the mean"},
      {.name = "epsilon", .initial = 1e-5, .doc = "added to the variance", .min = 0}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::int64_t gains_of(const std::vector<Type>& in, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i)
    if (present(in, i)) return elements(in[i].shape);
  return 0;
}

void check_vector(const char* name, const char* what, const Type& x, const std::vector<Type>& in,
                  std::size_t i, std::int64_t gains) {
  if (present(in, i) && !(in[i] == Type{x.dtype, {gains}}))
    throw Error("[{}] {} is {} {}, expected {} {}", name, what, name_of(in[i].dtype),
                to_string(in[i].shape), name_of(x.dtype), gains);
}

void check_float(const char* name, const Type& x) {
  if (!is_float(x.dtype))
    throw Error("[{}] works on floating-point values, not {}", name, name_of(x.dtype));
}

std::int64_t features_of(const Settings& settings, const Shape& x) {
  return elements(x, axis_of("sample_norm", settings, x), x.size());
}

// The number of elements of shift: as many as gain has; without a gain, one for each element of a
// sample.
std::int64_t shifts_of(const Settings& settings, const Type& x, std::int64_t gains) {
  return gains > 0 ? gains : features_of(settings, x.shape);
}

// The cost of `operations` operations per element and of two sums over a row, one after the other.
Cost row_cost(const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out,
              const Shape& x, double operations) {
  const NormalisedRows rows = normalised_rows("sample_norm", settings, x, 0);
  return with_traffic({.work = operations * static_cast<double>(elements(x)),
                       .depth = 2.0 * log2_ceiling(rows.extent) + 3},
                      in, out);
}

// "a,b,*": dimensions before the axis may be split.
std::string indices(const Settings& settings, const Shape& x) {
  const std::size_t axis = axis_of("sample_norm", settings, x);
  std::string text;
  for (std::size_t d = 0; d < x.size(); ++d)
    text += (d > 0 ? "," : "") + std::string(1, d < axis ? static_cast<char>('a' + d) : '*');
  return text;
}

std::string optional_vector(const char* name, const std::vector<Type>& in, std::size_t i) {
  if (i >= in.size()) return "";
  return fmt::format(" {}[{}]", name, present(in, i) ? "*" : "");
}

template <class T>
double at(const T* vector, std::int64_t i, double otherwise) {
  return vector == nullptr ? otherwise : static_cast<double>(vector[i]);
}

// One row in double: x̂, r and the symmetric Jacobian.
struct Row {
  std::vector<double> normal;
  double r = 1;
  bool center = true;

  std::int64_t extent() const { return static_cast<std::int64_t>(normal.size()); }
  double mean_of(const std::vector<double>& values) const {
    double sum = 0;
    for (double value : values) sum += value;
    return sum / static_cast<double>(extent());
  }
  double mean_product(const std::vector<double>& a, const std::vector<double>& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < normal.size(); ++i) sum += a[i] * b[i];
    return sum / static_cast<double>(extent());
  }
  std::vector<double> centered(std::vector<double> h) const {
    const double mean = center ? mean_of(h) : 0;
    for (double& value : h) value -= mean;
    return h;
  }
  std::vector<double> jacobian_times(const std::vector<double>& h) const {
    std::vector<double> result = centered(h);
    const double along = mean_product(h, normal);
    for (std::size_t i = 0; i < normal.size(); ++i) result[i] = r * (result[i] - normal[i] * along);
    return result;
  }
};

template <class T>
Row row_of(const Settings& settings, const T* x, std::int64_t extent) {
  Row row{.normal = std::vector<double>(x, x + extent), .center = settings.flag("center")};
  row.normal = row.centered(row.normal);
  row.r = 1 / std::sqrt(row.mean_product(row.normal, row.normal) + settings.real("epsilon"));
  for (double& value : row.normal) value *= row.r;
  return row;
}

// Calls visit(row, first element, gain index of element i of the row).
template <class T, class Visit>
void for_each_row(const Settings& settings, const NormalisedRows& rows, const T* x, Visit&& visit) {
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const std::int64_t first = r * rows.extent, in_sample = r % rows.groups * rows.extent;
    visit(row_of(settings, x + first, rows.extent), first,
          [&](std::int64_t i) { return (in_sample + i) / rows.span; });
  }
}

void reference(const Call& call) {
  const std::vector<Type> types = types_of(call.in);
  const NormalisedRows rows =
      normalised_rows("sample_norm", call.settings, call.in[0].shape, gains_of(types, 1, 2));
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* gain = call.in.size() > 1 ? call.in[1].as<T>() : nullptr;
    const T* shift = call.in.size() > 2 ? call.in[2].as<T>() : nullptr;
    T* y = call.out[0].as<T>();
    for_each_row(call.settings, rows, call.in[0].as<T>(),
                 [&](const Row& row, std::int64_t first, auto&& channel) {
                   for (std::int64_t i = 0; i < rows.extent; ++i)
                     y[first + i] = static_cast<T>(at(gain, channel(i), 1) *
                                                       row.normal[static_cast<std::size_t>(i)] +
                                                   at(shift, channel(i), 0));
                 });
  });
}

template <class T>
void store(const std::vector<double>& values, const Tensor& tensor) {
  for (std::size_t i = 0; i < values.size(); ++i) tensor.as<T>()[i] = static_cast<T>(values[i]);
}

void reference_grad(const Call& call) {
  const std::vector<Type> types = types_of(call.in);
  const bool with_gain = call.in.size() > 2 && call.in[2].data != nullptr;
  const bool with_shift = call.settings.flag("with_shift");
  const std::int64_t gains = shifts_of(call.settings, types[1], gains_of(types, 2, 2));
  const NormalisedRows rows =
      normalised_rows("sample_norm_grad", call.settings, call.in[1].shape, gains);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *dy = call.in[0].as<T>(), *gain = with_gain ? call.in[2].as<T>() : nullptr;
    std::vector<double> dgain(static_cast<std::size_t>(gains)), dshift = dgain;
    for_each_row(call.settings, rows, call.in[1].as<T>(),
                 [&](const Row& row, std::int64_t first, auto&& channel) {
                   std::vector<double> h;
                   for (std::int64_t i = 0; i < rows.extent; ++i) {
                     const auto c = static_cast<std::size_t>(channel(i));
                     const double d = static_cast<double>(dy[first + i]);
                     h.push_back(d * at(gain, channel(i), 1));
                     dgain[c] += d * row.normal[static_cast<std::size_t>(i)];
                     dshift[c] += d;
                   }
                   const std::vector<double> dx = row.jacobian_times(h);
                   for (std::size_t i = 0; i < dx.size(); ++i)
                     call.out[0].as<T>()[first + static_cast<std::int64_t>(i)] =
                         static_cast<T>(dx[i]);
                 });
    if (with_gain) store<T>(dgain, call.out[1]);
    if (with_shift) store<T>(dshift, call.out.back());
  });
}

// With v for v_dx, h = gain · dy, both centred as a and b, p = mean(a x̂) and q = mean(b x̂), the
// part of v · dx that depends on x is r (Σ a b - N p q); its gradient is
// r² (3 p q x̂ - x̂ · mean(a b) - p b - q a).
void reference_grad2(const Call& call) {
  const std::vector<Type> types = types_of(call.in);
  const NormalisedRows rows = normalised_rows(
      "sample_norm_grad2", call.settings, call.in[4].shape,
      shifts_of(call.settings, types[4], std::max(gains_of(types, 1, 2), gains_of(types, 5, 5))));
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto given = [&](std::size_t i) -> const T* {
      return i < call.in.size() ? call.in[i].as<T>() : nullptr;
    };
    const T *v_dx = given(0), *v_dgain = given(1), *v_dshift = given(2), *dy = given(3);
    const T* gain = given(5);
    T *in_dy = call.out[0].as<T>(), *in_x = call.out[1].as<T>();
    std::vector<double> in_gain(static_cast<std::size_t>(rows.gains));
    for_each_row(
        call.settings, rows, call.in[4].as<T>(),
        [&](const Row& row, std::int64_t first, auto&& channel) {
          std::vector<double> v, h, along_gain;
          for (std::int64_t i = 0; i < rows.extent; ++i) {
            const double d = static_cast<double>(dy[first + i]);
            v.push_back(at(v_dx, first + i, 0));
            h.push_back(d * at(gain, channel(i), 1));
            along_gain.push_back(d * at(v_dgain, channel(i), 0));
          }
          const std::vector<double> jv = row.jacobian_times(v), jg = row.jacobian_times(along_gain);
          const std::vector<double> a = row.centered(v), b = row.centered(h);
          const double p = row.mean_product(a, row.normal), q = row.mean_product(b, row.normal);
          const double ab = row.mean_product(a, b);
          for (std::int64_t i = 0; i < rows.extent; ++i) {
            const auto k = static_cast<std::size_t>(i);
            const std::int64_t c = channel(i);
            in_dy[first + i] = static_cast<T>(
                at(gain, c, 1) * jv[k] + at(v_dgain, c, 0) * row.normal[k] + at(v_dshift, c, 0));
            in_x[first + i] = static_cast<T>(
                row.r * row.r * ((3 * p * q - ab) * row.normal[k] - p * b[k] - q * a[k]) + jg[k]);
            in_gain[static_cast<std::size_t>(c)] += static_cast<double>(dy[first + i]) * jv[k];
          }
        });
    if (call.out.size() > 2) store<T>(in_gain, call.out[2]);
  });
}

std::vector<ValueId> gradient(Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
  std::vector<ValueId> inputs = node.inputs;
  inputs.resize(3, no_value);
  const bool with_gain = inputs[1] != no_value, with_shift = inputs[2] != no_value;
  Settings settings = node.settings;
  settings.set("with_shift", with_shift);
  const std::size_t arity = node.inputs.size();
  const std::vector<ValueId> found =
      graph.add(sample_norm_grad, {dy[0], inputs[0], inputs[1]}, settings);
  std::vector<ValueId> all{found[0], with_gain ? found[1] : no_value,
                           with_shift ? found.back() : no_value};
  all.resize(arity);
  return all;
}

std::vector<ValueId> gradient_of_grad(Graph& graph, const Node& node,
                                      const std::vector<ValueId>& v) {
  const ValueId dy = node.inputs[0], x = node.inputs[1];
  const std::size_t arity = node.inputs.size();
  const ValueId gain = arity > 2 ? node.inputs[2] : no_value;
  const ValueId v_gain = gain != no_value ? v[1] : no_value;
  const ValueId v_shift = node.settings.flag("with_shift") ? v.back() : no_value;
  std::vector<ValueId> all = graph.add(sample_norm_grad2, {v[0], v_gain, v_shift, dy, x, gain},
                                       settings_for(sample_norm_grad2, node.settings));
  all.resize(arity, no_value);
  return all;
}

// Cases: layer norm over a matrix, over images and over the last dimension; group norm; RMS norm; a
// norm without gain and shift.
template <class Make>
std::vector<OpCase> cases_from(Make&& make) {
  using Int = std::int64_t;
  const auto one = [&](Settings settings, Shape x, Int gains) {
    settings.set("epsilon", 0.1);
    return make(std::move(settings), Type{DType::f64, std::move(x)}, Type{DType::f64, {gains}});
  };
  return {one({}, {4, 6}, 6),
          one({}, {2, 3, 4}, 12),
          one({{"axis", Int{-1}}}, {2, 3, 5}, 5),
          one({{"groups", Int{2}}}, {2, 4, 3, 2}, 4),
          one({{"center", false}}, {3, 7}, 7),
          one({{"center", false}, {"groups", Int{3}}}, {2, 6, 2}, 6)};
}

}  // namespace

NormalisedRows normalised_rows(const char* name, const Settings& settings, const Shape& x,
                               std::int64_t gains) {
  const std::size_t axis = axis_of(name, settings, x);
  const std::int64_t features = elements(x, axis, x.size()), groups = settings.integer("groups");
  if (x[axis] % groups != 0)
    throw Error("[{}] dimension {} of {} can't be divided into {} groups", name, axis, to_string(x),
                groups);
  if (gains != 0 && gains != x[axis] && gains != features)
    throw Error("[{}] gain and shift have {} elements, expected {} or {} for {} from axis {} on",
                name, gains, x[axis], features, to_string(x), axis);
  return {.rows = elements(x, 0, axis) * groups,
          .extent = features / groups,
          .groups = groups,
          .gains = gains,
          .span = gains == 0 ? 1 : features / gains};
}

const Op sample_norm{
    .name = "sample_norm",
    .doc = "y = gain · (x - mean) / √(variance + epsilon) + shift within each sample",
    .settings = settings_with({}),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          check_float("sample_norm", in.at(0));
          const std::int64_t gains = gains_of(in, 1, 2);
          normalised_rows("sample_norm", settings, in[0].shape, gains);
          check_vector("sample_norm", "gain", in[0], in, 1, gains);
          check_vector("sample_norm", "shift", in[0], in, 2, gains);
          return std::vector<Type>{in[0]};
        },
    .gradient = gradient,
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          return row_cost(settings, in, out, in[0].shape, 5);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = indices(settings, in[0].shape);
          return fmt::format("x[{}]{}{} -> y[{}]", x, optional_vector("gain", in, 1),
                             optional_vector("shift", in, 2), x);
        },
    .reference = reference,
    .cases =
        [] {
          std::vector<OpCase> all = cases_from([](Settings settings, Type x, Type gain) {
            return OpCase{std::move(settings), {x, gain, gain}};
          });
          all.push_back({{{"epsilon", 0.1}}, {{DType::f64, {3, 5}}}});
          all.push_back({{{"epsilon", 0.1}}, {{DType::f64, {3, 5}}, {DType::f64, {5}}}});
          all.push_back({{{"epsilon", 0.1}}, {{DType::f64, {3, 5}}, Type{}, {DType::f64, {5}}}});
          return all;
        },
    .in_place = {{0, 0}},
};

const Op sample_norm_grad{
    .name = "sample_norm_grad",
    .doc = "dx of sample_norm, the gradient of gain where there is one, and of shift on request",
    .settings = settings_with(
        {{.name = "with_shift", .initial = false, .doc = "also return the gradient of the shift"}}),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          check(in.size() >= 2 && in[0] == in[1], "dy is like x");
          const std::int64_t gains = gains_of(in, 2, 2);
          normalised_rows("sample_norm_grad", settings, in[1].shape, gains);
          std::vector<Type> out{in[1]};
          if (present(in, 2)) out.push_back(in[2]);
          if (settings.flag("with_shift"))
            out.push_back({in[1].dtype, {shifts_of(settings, in[1], gains)}});
          return out;
        },
    .gradient = gradient_of_grad,
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          return row_cost(settings, in, out, in[1].shape, 11);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = indices(settings, in[1].shape);
          return fmt::format("dy[{}] x[{}]{} -> dx[{}]{}{}", x, x, optional_vector("gain", in, 2),
                             x, present(in, 2) ? " dgain[*]" : "",
                             settings.flag("with_shift") ? " dshift[*]" : "");
        },
    .reference = reference_grad,
    .cases =
        [] {
          std::vector<OpCase> all = cases_from([](Settings settings, Type x, Type gain) {
            settings.set("with_shift", true);
            return OpCase{std::move(settings), {x, x, gain}};
          });
          const Type x{DType::f64, {3, 5}};
          all.push_back({{{"epsilon", 0.1}}, {x, x}});
          all.push_back({{{"epsilon", 0.1}}, {x, x, {DType::f64, {5}}}});
          all.push_back({{{"epsilon", 0.1}, {"with_shift", true}}, {x, x, Type{}}});
          return all;
        },
};

const Op sample_norm_grad2{
    .name = "sample_norm_grad2",
    .doc = "the gradient of v · sample_norm_grad in dy, x and gain",
    .settings = settings_with({}),
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check(in.size() == 6 && in[3] == in[4], "dy is like x");
          std::vector<Type> out{in[3], in[4]};
          if (present(in, 5)) out.push_back(in[5]);
          return out;
        },
    .undifferentiable = "normalisation has no third derivative here",
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          return row_cost(settings, in, out, in[4].shape, 25);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = indices(settings, in[4].shape);
          return fmt::format(
              "v[{}]{}{} dy[{}] x[{}]{} -> in_dy[{}] in_x[{}]{}", present(in, 0) ? x : "",
              optional_vector("v_dgain", in, 1), optional_vector("v_dshift", in, 2), x, x,
              optional_vector("gain", in, 5), x, x, present(in, 5) ? " in_gain[*]" : "");
        },
    .reference = reference_grad2,
    .cases =
        [] {
          return cases_from([](Settings settings, Type x, Type gain) {
            return OpCase{std::move(settings), {x, gain, gain, x, x, gain}};
          });
        },
};

}  // namespace tutti::ops
