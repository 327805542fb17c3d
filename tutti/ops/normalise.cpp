// SPDX-License-Identifier: Apache-2.0
// y = γ (x − mean) / √(variance + ε) + β per channel, given the statistics (B17). Where the
// statistics were computed from the batch, the gradient flows through them as well: normalise_sums
// makes the sums that this needs, and a partition can add the sums of several ranks before they are
// used (B19).
#include "tutti/ops/normalise.h"

#include "tutti/ops/shared/activation.h"
#include "tutti/ops/shared/channels.h"
#include "tutti/ops/shared/doubles.h"
#include "tutti/ops/shared/traffic.h"

#include <cmath>
#include <functional>

namespace tutti::ops {
namespace {

constexpr const char* once = "batch normalisation has no second derivative here";

std::vector<Setting> settings_of_input() { return {group_setting(), epsilon_setting()}; }

std::vector<Setting> settings_with_activation() {
  std::vector<Setting> settings = settings_of_input();
  settings.push_back(activation_setting());
  settings.push_back(activation_slope_setting());
  return settings;
}

Settings of_input(const Settings& settings) {
  return {{"group", settings.integer("group")}, {"epsilon", settings.real("epsilon")}};
}

Channels view_of(const char* name, const Call& call, std::size_t x) {
  return channels_of(name, call.settings, {call.in[x].dtype, call.in[x].shape});
}

double root(const Call& call, const Doubles& variance, std::int64_t i) {
  return std::sqrt(variance[i] + call.settings.real("epsilon"));
}

// Throws unless the `count` inputs from in[first] on have the shapes of mean, variance, gamma and
// beta, in this order.
void check_statistics(const char* name, const Channels& view, const std::vector<Type>& in,
                      std::size_t first, std::size_t count) {
  constexpr const char* names[] = {"mean", "variance", "gamma", "beta"};
  for (std::size_t k = 0; k < count; ++k)
    check_is(name, names[k], in.at(first + k),
             k < 2 ? statistics_shape(view) : Shape{view.channels});
}

Cost cost_of(double per_element, double depth, const std::vector<Type>& in,
             const std::vector<Type>& out, std::size_t x = 0) {
  return with_traffic(
      {.work = per_element * static_cast<double>(elements(in[x].shape)), .depth = depth}, in, out);
}

std::vector<Type> infer_normalise(const Settings& settings, const std::vector<Type>& in) {
  const Channels view = channels_of("normalise", settings, in.at(0));
  check_statistics("normalise", view, in, 1, 4);
  if (present(in, normalise_residual) && in[normalise_residual] != in[0])
    throw Error("[normalise] residual is {}, expected the shape of x, {}",
                to_string(in[normalise_residual].shape), to_string(in[0].shape));
  return {in[0]};
}

std::vector<ValueId> gradient_normalise(Graph& graph, const Node& node,
                                        const std::vector<ValueId>& dy) {
  check(node.inputs.size() <= normalise_residual && node.settings.text("activation") == "none",
        "fused nodes appear after autodiff");
  const ValueId x = node.inputs[0], mean = node.inputs[1], variance = node.inputs[2];
  const ValueId gamma = node.inputs[3];
  const Settings settings = of_input(node.settings);
  const Settings epsilon{{"epsilon", settings.real("epsilon")}};
  const Settings dtype{{"dtype", std::string(name_of(graph.type(x).dtype))}};
  const ValueId sums = graph.add1(normalise_sums, {dy[0], x, mean, variance}, settings);
  const std::vector<ValueId> parameters = graph.add(normalise_grad_parameters, {sums}, dtype);
  const std::vector<ValueId> statistics =
      graph.add(normalise_grad_statistics, {sums, variance, gamma}, epsilon);
  const ValueId dx = graph.add1(normalise_grad_input, {dy[0], variance, gamma}, settings);
  return {dx, statistics[0], statistics[1], parameters[0], parameters[1]};
}

void reference_normalise(const Call& call) {
  const Channels view = view_of("normalise", call, 0);
  const Doubles mean(call.in[1]), variance(call.in[2]), gamma(call.in[3]), beta(call.in[4]);
  const Activation activation = activation_of(call.settings);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* x = call.in[0].as<T>();
    const T* residual =
        call.in.size() > normalise_residual ? call.in[normalise_residual].as<T>() : nullptr;
    const T slope = static_cast<T>(call.settings.real("slope"));
    T* y = call.out[0].as<T>();
    for_each_channel(view, [&](std::int64_t i, std::int64_t gc, std::int64_t c) {
      const double centred = static_cast<double>(x[i]) - mean[gc];
      T value = static_cast<T>(gamma[c] * centred / root(call, variance, gc) + beta[c]);
      if (residual != nullptr) value += residual[i];
      y[i] = activate(activation, value, slope);
    });
  });
}

// Whether the forward value was positive, so that the gradient passes a fused ReLU.
bool passes(const Call& call, double x, double mean, double deviation, double gamma, double beta) {
  return activation_of(call.settings) != Activation::relu ||
         gamma * (x - mean) / deviation + beta > 0;
}

void reference_sums(const Call& call) {
  const Channels view = view_of("normalise_sums", call, 1);
  const Doubles dy(call.in[0]), x(call.in[1]), mean(call.in[2]), variance(call.in[3]);
  const bool masked = activation_of(call.settings) == Activation::relu;
  const Doubles gamma(call.in[masked ? 4 : 0]), beta(call.in[masked ? 5 : 0]);
  double* sums = call.out[0].as<double>();
  std::fill_n(sums, call.out[0].count(), 0.0);
  for_each_channel(view, [&](std::int64_t i, std::int64_t gc, std::int64_t c) {
    double* group = sums + gc / view.channels * sum_rows * view.channels + c;
    const double deviation = root(call, variance, gc);
    group[sum_count * view.channels] += 1;
    if (masked && !passes(call, x[i], mean[gc], deviation, gamma[c], beta[c])) return;
    group[first_sum * view.channels] += dy[i];
    group[second_sum * view.channels] += dy[i] * (x[i] - mean[gc]) / deviation;
  });
}

std::vector<Type> infer_sums(const Settings& settings, const std::vector<Type>& in) {
  const Channels view = channels_of("normalise_sums", settings, in.at(1));
  check_is("normalise_sums", "dy", in[0], in[1].shape);
  const bool masked = activation_of(settings) == Activation::relu;
  check_statistics("normalise_sums", view, in, 2, masked ? 4 : 2);
  return {{DType::f64, sums_shape(view)}};
}

void reference_parameters(const Call& call) {
  const Doubles sums(call.in[0]);
  const std::int64_t groups = call.in[0].shape[0], channels = call.in[0].shape[2];
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t c = 0; c < channels; ++c) {
      double dgamma = 0, dbeta = 0;
      for (std::int64_t g = 0; g < groups; ++g) {
        dbeta += sums[(g * sum_rows + first_sum) * channels + c];
        dgamma += sums[(g * sum_rows + second_sum) * channels + c];
      }
      call.out[0].as<T>()[c] = static_cast<T>(dgamma);
      call.out[1].as<T>()[c] = static_cast<T>(dbeta);
    }
  });
}

void reference_statistics(const Call& call) {
  const Doubles sums(call.in[0]), variance(call.in[1]), gamma(call.in[2]);
  const std::int64_t groups = call.in[0].shape[0], channels = call.in[0].shape[2];
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t g = 0; g < groups; ++g)
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t i = g * channels + c, first = g * sum_rows * channels + c;
        const double deviation = root(call, variance, i);
        call.out[0].as<T>()[i] = static_cast<T>(-gamma[c] * sums[first] / deviation);
        call.out[1].as<T>()[i] = static_cast<T>(
            -0.5 * gamma[c] * sums[first + second_sum * channels] / (deviation * deviation));
      }
  });
}

void reference_input(const Call& call) {
  const Channels view = view_of("normalise_grad_input", call, 0);
  const Doubles dy(call.in[0]), variance(call.in[1]), gamma(call.in[2]);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    T* dx = call.out[0].as<T>();
    for_each_channel(view, [&](std::int64_t i, std::int64_t gc, std::int64_t c) {
      dx[i] = static_cast<T>(gamma[c] * dy[i] / root(call, variance, gc));
    });
  });
}

void reference_grad(const Call& call) {
  const Channels view = view_of("normalise_grad", call, 1);
  const Doubles dy(call.in[0]), x(call.in[1]), mean(call.in[2]), variance(call.in[3]);
  const Doubles gamma(call.in[4]), beta(call.in[5]), sums(call.in[6]);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    T* dx = call.out[0].as<T>();
    for_each_channel(view, [&](std::int64_t i, std::int64_t gc, std::int64_t c) {
      const std::int64_t first = gc / view.channels * sum_rows * view.channels + c;
      const double count = sums[first + sum_count * view.channels];
      const double deviation = root(call, variance, gc);
      const double d = passes(call, x[i], mean[gc], deviation, gamma[c], beta[c]) ? dy[i] : 0.0;
      const double normal = (x[i] - mean[gc]) / deviation;
      dx[i] = static_cast<T>(
          gamma[c] / deviation *
          (d - (sums[first] + normal * sums[first + second_sum * view.channels]) / count));
    });
  });
}

std::vector<Type> infer_grad(const Settings& settings, const std::vector<Type>& in) {
  const Channels view = channels_of("normalise_grad", settings, in.at(1));
  check_is("normalise_grad", "dy", in[0], in[1].shape);
  check_statistics("normalise_grad", view, in, 2, 4);
  check_is("normalise_grad", "sums", in.at(6), sums_shape(view));
  return {in[1]};
}

// So large an ε that variance + ε is positive for the random variances of the tests.
const Settings safe{{"epsilon", 2.0}};

std::vector<OpCase> cases_for(const std::function<std::vector<Type>(const Type& x)>& inputs) {
  std::vector<OpCase> cases;
  for (const Shape& shape : {Shape{4, 3}, Shape{2, 3, 5}, Shape{2, 3, 2, 4}})
    cases.push_back({safe, inputs({DType::f64, shape})});
  return cases;
}

Type statistic_for(const Type& x) { return {DType::f64, {1, x.shape[1]}}; }
Type parameter_for(const Type& x) { return {DType::f64, {x.shape[1]}}; }
Type sums_for(const Type& x) { return {DType::f64, {1, sum_rows, x.shape[1]}}; }

}  // namespace

const Op normalise{
    .name = "normalise",
    .doc = "y = γ (x − mean) / √(variance + ε) + β per channel",
    .settings = settings_with_activation(),
    .infer = infer_normalise,
    .gradient = gradient_normalise,
    .cost = [](const Settings&, const std::vector<Type>& in,
               const std::vector<Type>& out) { return cost_of(4, 4, in, out); },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = channel_indices(settings, in[0]), g = group_index(settings);
          const std::string residual =
              in.size() > normalise_residual ? fmt::format(" residual[{}]", x) : "";
          return fmt::format("x[{}] mean[{},c] variance[{},c] gamma[c] beta[c]{} -> y[{}]", x, g, g,
                             residual, x);
        },
    .reference = reference_normalise,
    .cases =
        [] {
          return cases_for([](const Type& x) {
            return std::vector<Type>{x, statistic_for(x), statistic_for(x), parameter_for(x),
                                     parameter_for(x)};
          });
        },
    .in_place = {{0, 0}},
};

const Op normalise_sums{
    .name = "normalise_sums",
    .doc = "Σdy, Σdy·x̂ and the number of summands per channel, x̂ the normalised x",
    .settings = settings_with_activation(),
    .infer = infer_sums,
    .undifferentiable = once,
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          const Channels view = channels_of("normalise_sums", settings, in[1]);
          return cost_of(4, 4 + log2_ceiling(std::min(view.group, view.samples) * view.inner), in,
                         out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = channel_indices(settings, in[1]), g = group_index(settings);
          return fmt::format("dy[{}] x[{}] mean[{},c] variance[{},c]{} -> sums[{},*,c]", x, x, g, g,
                             in.size() > 4 ? " gamma[c] beta[c]" : "", g);
        },
    .reference = reference_sums,
    .cases =
        [] {
          std::vector<OpCase> cases = cases_for([](const Type& x) {
            return std::vector<Type>{x, x, statistic_for(x), statistic_for(x)};
          });
          const Type x{DType::f64, {2, 3, 2, 4}};
          cases.push_back(
              {{{"epsilon", 2.0}, {"activation", "relu"}},
               {x, x, statistic_for(x), statistic_for(x), parameter_for(x), parameter_for(x)}});
          return cases;
        },
};

const Op normalise_grad_parameters{
    .name = "normalise_grad_parameters",
    .doc = "the gradients of γ and β from normalise_sums",
    .settings = {result_dtype_setting()},
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          check_sums("normalise_grad_parameters", in.at(0));
          const Type result{dtype_named(settings.text("dtype")), {in[0].shape[2]}};
          return std::vector<Type>{result, result};
        },
    .undifferentiable = once,
    .cost = [](const Settings&, const std::vector<Type>& in,
               const std::vector<Type>& out) { return cost_of(1, 1, in, out); },
    .sharding =
        [](const Settings&, const std::vector<Type>&) {
          return std::string("sums[g,*,c] -> dgamma[c] dbeta[c]");
        },
    .reference = reference_parameters,
    .cases =
        [] {
          return std::vector<OpCase>{{{}, {{DType::f64, {2, sum_rows, 3}}}}};
        },
    .linear = true,
};

const Op normalise_grad_statistics{
    .name = "normalise_grad_statistics",
    .doc = "the gradients of mean and variance from normalise_sums",
    .settings = {epsilon_setting()},
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_sums("normalise_grad_statistics", in.at(0));
          const Shape statistics{in[0].shape[0], in[0].shape[2]};
          check_is("normalise_grad_statistics", "variance", in.at(1), statistics);
          check_is("normalise_grad_statistics", "gamma", in.at(2), {in[0].shape[2]});
          return std::vector<Type>{in[1], in[1]};
        },
    .undifferentiable = once,
    .cost = [](const Settings&, const std::vector<Type>& in,
               const std::vector<Type>& out) { return cost_of(2, 4, in, out); },
    .sharding =
        [](const Settings&, const std::vector<Type>&) {
          return std::string("sums[g,*,c] variance[g,c] gamma[c] -> dmean[g,c] dvariance[g,c]");
        },
    .reference = reference_statistics,
    .cases =
        [] {
          return std::vector<OpCase>{
              {safe, {{DType::f64, {2, sum_rows, 3}}, {DType::f64, {2, 3}}, {DType::f64, {3}}}}};
        },
};

const Op normalise_grad_input{
    .name = "normalise_grad_input",
    .doc = "dx = γ dy / √(variance + ε): the statistics held fixed",
    .settings = settings_of_input(),
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Channels view = channels_of("normalise_grad_input", settings, in.at(0));
          check_is("normalise_grad_input", "variance", in.at(1), statistics_shape(view));
          check_is("normalise_grad_input", "gamma", in.at(2), {view.channels});
          return std::vector<Type>{in[0]};
        },
    .undifferentiable = once,
    .cost = [](const Settings&, const std::vector<Type>& in,
               const std::vector<Type>& out) { return cost_of(2, 3, in, out); },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = channel_indices(settings, in[0]);
          return fmt::format("dy[{}] variance[{},c] gamma[c] -> dx[{}]", x, group_index(settings),
                             x);
        },
    .reference = reference_input,
    .cases =
        [] {
          return cases_for([](const Type& x) {
            return std::vector<Type>{x, statistic_for(x), parameter_for(x)};
          });
        },
    .in_place = {{0, 0}},
};

const Op normalise_grad{
    .name = "normalise_grad",
    .doc =
        "dx of batch normalisation, through the statistics as well: "
        "γ (dy − (Σdy + x̂ Σdy·x̂) / count) / √(variance + ε)",
    .settings = settings_with_activation(),
    .infer = infer_grad,
    .undifferentiable = once,
    .cost = [](const Settings&, const std::vector<Type>& in,
               const std::vector<Type>& out) { return cost_of(6, 6, in, out); },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = channel_indices(settings, in[1]), g = group_index(settings);
          return fmt::format(
              "dy[{}] x[{}] mean[{},c] variance[{},c] gamma[c] beta[c] sums[{},*,c] -> dx[{}]", x,
              x, g, g, g, x);
        },
    .reference = reference_grad,
    .cases =
        [] {
          const auto inputs = [](const Type& x) {
            return std::vector<Type>{x,
                                     x,
                                     statistic_for(x),
                                     statistic_for(x),
                                     parameter_for(x),
                                     parameter_for(x),
                                     sums_for(x)};
          };
          std::vector<OpCase> cases = cases_for(inputs);
          cases.push_back(
              {{{"epsilon", 2.0}, {"activation", "relu"}}, inputs({DType::f64, {2, 3, 2, 4}})});
          return cases;
        },
    .in_place = {{0, 0}},
};

}  // namespace tutti::ops
