// SPDX-License-Identifier: Apache-2.0
// The statistics of batch normalisation (B17) in two parts, so that a partition can add the sums of
// several ranks in between (B19): sums over samples and positions, then mean and variance.
#include "tutti/ops/channel_sums.h"

#include "tutti/ops/shared/channels.h"
#include "tutti/ops/shared/doubles.h"
#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {
namespace {

constexpr const char* once = "the statistics of a batch have no second derivative here";

double depth_of(const Channels& view) {
  return log2_ceiling(std::min(view.group, view.samples) * view.inner);
}

void reference_sums(const Call& call) {
  const Channels view =
      channels_of("channel_sums", call.settings, {call.in[0].dtype, call.in[0].shape});
  double* sums = call.out[0].as<double>();
  std::fill_n(sums, call.out[0].count(), 0.0);
  const Doubles x(call.in[0]);
  for_each_channel(view, [&](std::int64_t i, std::int64_t gc, std::int64_t c) {
    double* group = sums + gc / view.channels * sum_rows * view.channels + c;
    group[first_sum * view.channels] += x[i];
    group[second_sum * view.channels] += x[i] * x[i];
    group[sum_count * view.channels] += 1;
  });
}

void reference_sums_grad(const Call& call) {
  const Channels view =
      channels_of("channel_sums_grad", call.settings, {call.in[0].dtype, call.in[0].shape});
  const Doubles x(call.in[0]), dsums(call.in[1]);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    T* dx = call.out[0].as<T>();
    for_each_channel(view, [&](std::int64_t i, std::int64_t gc, std::int64_t c) {
      const std::int64_t group = gc / view.channels * sum_rows * view.channels + c;
      dx[i] = static_cast<T>(dsums[group + first_sum * view.channels] +
                             2 * dsums[group + second_sum * view.channels] * x[i]);
    });
  });
}

// Calls visit(index in [g,c], index of the first row in [g,3,c], channels).
template <class Visit>
void for_each_statistic(const Shape& sums, Visit&& visit) {
  const std::int64_t channels = sums[2];
  for (std::int64_t g = 0; g < sums[0]; ++g)
    for (std::int64_t c = 0; c < channels; ++c)
      visit(g * channels + c, g * sum_rows * channels + c, channels);
}

void reference_statistics(const Call& call) {
  const Doubles sums(call.in[0]);
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    T *mean = call.out[0].as<T>(), *variance = call.out[1].as<T>();
    for_each_statistic(call.in[0].shape, [&](std::int64_t i, std::int64_t first, std::int64_t row) {
      const double count = sums[first + sum_count * row];
      const double m = sums[first] / count;
      mean[i] = static_cast<T>(m);
      variance[i] = static_cast<T>(sums[first + second_sum * row] / count - m * m);
    });
  });
}

void reference_statistics_grad(const Call& call) {
  const Doubles sums(call.in[2]);
  const auto given = [&](std::size_t k, std::int64_t i) {
    return call.in[k].data == nullptr ? 0 : Doubles(call.in[k])[i];
  };
  double* dsums = call.out[0].as<double>();
  for_each_statistic(call.in[2].shape, [&](std::int64_t i, std::int64_t first, std::int64_t row) {
    const double count = sums[first + sum_count * row];
    const double mean = sums[first] / count;
    const double square = sums[first + second_sum * row] / count;
    const double dmean = given(0, i), dvariance = given(1, i);
    dsums[first] = (dmean - 2 * mean * dvariance) / count;
    dsums[first + second_sum * row] = dvariance / count;
    dsums[first + sum_count * row] =
        (-mean * dmean + (2 * mean * mean - square) * dvariance) / count;
  });
}

std::vector<ValueId> gradient_statistics(Graph& graph, const Node& node,
                                         const std::vector<ValueId>& dy) {
  return {graph.add1(channel_statistics_grad, {dy[0], dy[1], node.inputs[0]})};
}

void reference_running(const Call& call) {
  const double momentum = call.settings.real("momentum");
  const Doubles mean(call.in[2]), variance(call.in[3]), sums(call.in[4]);
  const std::int64_t groups = call.in[4].shape[0], channels = call.in[4].shape[2];
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t c = 0; c < channels; ++c) {
      double m = 0, v = 0;
      for (std::int64_t g = 0; g < groups; ++g) {
        const double count = sums[(g * sum_rows + sum_count) * channels + c];
        m += mean[g * channels + c];
        v += variance[g * channels + c] * (count > 1 ? count / (count - 1) : 1);
      }
      const auto mix = [&](std::size_t k, double fresh) {
        const double old = static_cast<double>(call.in[k].as<T>()[c]);
        call.out[k].as<T>()[c] =
            static_cast<T>((1 - momentum) * old + momentum * fresh / static_cast<double>(groups));
      };
      mix(0, m);
      mix(1, v);
    }
  });
}

std::vector<Type> infer_running(const Settings&, const std::vector<Type>& in) {
  check_sums("running_average", in.at(4));
  const Shape one{1, in[4].shape[2]}, all{in[4].shape[0], in[4].shape[2]};
  for (std::size_t i : {0, 1}) check_is("running_average", "an average", in[i], one);
  for (std::size_t i : {2, 3}) check_is("running_average", "a statistic", in[i], all);
  return {in[0], in[1]};
}

std::vector<OpCase> cases_of_x(bool with_sums) {
  const auto one = [&](Shape x, std::int64_t group = 0) {
    OpCase made{{{"group", group}}, {{DType::f64, x}}};
    const std::int64_t groups = group == 0 ? 1 : x[0] / group;
    if (with_sums) made.in.push_back({DType::f64, {groups, sum_rows, x[1]}});
    return made;
  };
  return {one({4, 3}), one({2, 3, 5}), one({2, 3, 2, 4}), one({6, 3, 2}, 2)};
}

constexpr auto no_cost = [](const Settings&, const std::vector<Type>& in,
                            const std::vector<Type>& out) {
  double elements_out = 0;
  for (const Type& type : out) elements_out += static_cast<double>(elements(type.shape));
  return with_traffic({.work = 4 * elements_out, .depth = 4}, in, out);
};

}  // namespace

const Op channel_sums{
    .name = "channel_sums",
    .doc = "Σx, Σx² and the number of summands per channel, over samples and positions",
    .settings = {group_setting()},
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          return std::vector<Type>{
              {DType::f64, sums_shape(channels_of("channel_sums", settings, in.at(0)))}};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dsums) {
          return graph.add(channel_sums_grad, {node.inputs[0], dsums[0]}, node.settings);
        },
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          const Channels view = channels_of("channel_sums", settings, in[0]);
          return with_traffic(
              {.work = 3 * static_cast<double>(view.count()), .depth = depth_of(view)}, in, out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          return fmt::format("x[{}] -> sums[{},*,c]", channel_indices(settings, in[0]),
                             group_index(settings));
        },
    .reference = reference_sums,
    .cases = [] { return cases_of_x(false); },
};

const Op channel_sums_grad{
    .name = "channel_sums_grad",
    .doc = "dx = dsums₀ + 2 x dsums₁ of the channel",
    .settings = {group_setting()},
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          const Channels view = channels_of("channel_sums_grad", settings, in.at(0));
          check_is("channel_sums_grad", "dsums", in.at(1), sums_shape(view));
          return std::vector<Type>{in[0]};
        },
    .undifferentiable = once,
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          return with_traffic({.work = 2 * static_cast<double>(elements(out[0].shape)), .depth = 2},
                              in, out);
        },
    .sharding =
        [](const Settings& settings, const std::vector<Type>& in) {
          const std::string x = channel_indices(settings, in[0]);
          return fmt::format("x[{}] dsums[{},*,c] -> dx[{}]", x, group_index(settings), x);
        },
    .reference = reference_sums_grad,
    .cases = [] { return cases_of_x(true); },
};

const Op channel_statistics{
    .name = "channel_statistics",
    .doc = "mean and variance per channel from channel_sums",
    .settings = {result_dtype_setting()},
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          check_sums("channel_statistics", in.at(0));
          const Type result{dtype_named(settings.text("dtype")), {in[0].shape[0], in[0].shape[2]}};
          return std::vector<Type>{result, result};
        },
    .gradient = gradient_statistics,
    .cost = no_cost,
    .sharding =
        [](const Settings&, const std::vector<Type>&) {
          return std::string("sums[g,*,c] -> mean[g,c] variance[g,c]");
        },
    .reference = reference_statistics,
    .cases =
        [] {
          return std::vector<OpCase>{{{}, {{DType::f64, {1, sum_rows, 3}}}},
                                     {{}, {{DType::f64, {2, sum_rows, 5}}}}};
        },
};

const Op channel_statistics_grad{
    .name = "channel_statistics_grad",
    .doc = "the gradient of mean and variance in the sums",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_sums("channel_statistics_grad", in.at(2));
          const Shape statistics{in[2].shape[0], in[2].shape[2]};
          if (present(in, 0)) check_is("channel_statistics_grad", "dmean", in[0], statistics);
          if (present(in, 1)) check_is("channel_statistics_grad", "dvariance", in[1], statistics);
          return std::vector<Type>{{DType::f64, in[2].shape}};
        },
    .undifferentiable = once,
    .cost = no_cost,
    .sharding =
        [](const Settings&, const std::vector<Type>&) {
          return std::string("dmean[g,c] dvariance[g,c] sums[g,*,c] -> dsums[g,*,c]");
        },
    .reference = reference_statistics_grad,
    .cases =
        [] {
          const Type statistics{DType::f64, {2, 3}};
          return std::vector<OpCase>{
              {{}, {statistics, statistics, {DType::f64, {2, sum_rows, 3}}}}};
        },
};

const Op running_average{
    .name = "running_average",
    .doc =
        "mean and unbiased variance for evaluation: (1 − momentum) · old + momentum · this batch, "
        "averaged over groups",
    .settings =
        {{.name = "momentum", .initial = 0.1, .doc = "weight of this batch", .min = 0, .max = 1}},
    .infer = infer_running,
    .undifferentiable = "averages for evaluation are not trained",
    .cost = no_cost,
    .reference = reference_running,
    .cases =
        [] {
          const Type average{DType::f64, {1, 3}}, statistics{DType::f64, {2, 3}};
          return std::vector<OpCase>{
              {{}, {average, average, statistics, statistics, {DType::f64, {2, sum_rows, 3}}}}};
        },
    .in_place = {{0, 0}, {1, 1}},
};

}  // namespace tutti::ops
