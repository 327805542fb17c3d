// SPDX-License-Identifier: Apache-2.0
// The similarity operator of SimNets (B34, Cohen and Shashua 2014): y = Σ_i u_i φ(x_i, z_i), which
// puts -|x - z| or -(x - z)² in the place of the product of a linear layer.
#include "tutti/ops/similarity.h"

#include "tutti/ops/shared/traffic.h"

#include <algorithm>
#include <cmath>

namespace tutti::ops {
namespace {

const std::vector<Setting> kind_setting{
    {.name = "kind",
     .initial = std::string("l1"),
     .doc = "φ(x, z): -|x - z| (l1), -(x - z)² (l2) or x · z (product)",
     .choices = {"l1", "l2", "product"}}};

// φ and its slopes in x and z.
struct Phi {
  double value, in_x, in_z;
};
enum class Kind { l1, l2, product };

Kind kind_of(const Settings& settings) {
  const std::string& kind = settings.text("kind");
  return kind == "l1" ? Kind::l1 : kind == "l2" ? Kind::l2 : Kind::product;
}

Phi phi(Kind kind, double x, double z) {
  const double difference = x - z;
  switch (kind) {
    case Kind::l1: {
      const double sign = difference > 0 ? 1 : difference < 0 ? -1 : 0;
      return {-std::abs(difference), -sign, sign};
    }
    case Kind::l2:
      return {-difference * difference, -2 * difference, 2 * difference};
    case Kind::product:
      break;
  }
  return {x * z, z, x};
}

void check_operands(const char* name, const Type& x, const Type& z, const Type& u) {
  if (!is_float(x.dtype) || x.shape.size() != 2 || z.shape.size() != 2 || x.dtype != z.dtype ||
      x.shape[1] != z.shape[1])
    throw Error("[{}] x is {} {} and z {} {}, expected samples × features and outputs × features",
                name, name_of(x.dtype), to_string(x.shape), name_of(z.dtype), to_string(z.shape));
  if (!(u == z))
    throw Error("[{}] u is {} {}, expected {} {} like z", name, name_of(u.dtype),
                to_string(u.shape), name_of(z.dtype), to_string(z.shape));
}

double terms(const Type& x, const Type& z) {
  return static_cast<double>(x.shape[0] * z.shape[0] * z.shape[1]);
}

std::vector<OpCase> cases(bool with_dy) {
  std::vector<OpCase> all;
  for (const char* kind : {"l1", "l2", "product"}) {
    const Type x{DType::f64, {4, 5}}, z{DType::f64, {3, 5}};
    OpCase one{{{"kind", std::string(kind)}}, {x, z, z}};
    if (with_dy) one.in.insert(one.in.begin(), Type{DType::f64, {4, 3}});
    all.push_back(one);
  }
  return all;
}

void reference(const Call& call) {
  const Kind kind = kind_of(call.settings);
  const std::int64_t samples = call.in[0].shape[0], outputs = call.in[1].shape[0];
  const std::int64_t features = call.in[0].shape[1];
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *x = call.in[0].as<T>(), *z = call.in[1].as<T>(), *u = call.in[2].as<T>();
    for (std::int64_t n = 0; n < samples; ++n)
      for (std::int64_t o = 0; o < outputs; ++o) {
        double sum = 0;
        for (std::int64_t i = 0; i < features; ++i)
          sum += static_cast<double>(u[o * features + i]) *
                 phi(kind, static_cast<double>(x[n * features + i]),
                     static_cast<double>(z[o * features + i]))
                     .value;
        call.out[0].as<T>()[n * outputs + o] = static_cast<T>(sum);
      }
  });
}

void reference_grad(const Call& call) {
  const Kind kind = kind_of(call.settings);
  const std::int64_t samples = call.in[1].shape[0], outputs = call.in[2].shape[0];
  const std::int64_t features = call.in[1].shape[1];
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *dy = call.in[0].as<T>(), *x = call.in[1].as<T>(), *z = call.in[2].as<T>(),
            *u = call.in[3].as<T>();
    for (const Tensor& out : call.out) std::fill_n(out.as<T>(), out.count(), T{0});
    for (std::int64_t n = 0; n < samples; ++n)
      for (std::int64_t o = 0; o < outputs; ++o)
        for (std::int64_t i = 0; i < features; ++i) {
          const std::int64_t at_x = n * features + i, at_z = o * features + i;
          const double d = static_cast<double>(dy[n * outputs + o]);
          const double weight = d * static_cast<double>(u[at_z]);
          const Phi p = phi(kind, static_cast<double>(x[at_x]), static_cast<double>(z[at_z]));
          call.out[0].as<T>()[at_x] += static_cast<T>(weight * p.in_x);
          call.out[1].as<T>()[at_z] += static_cast<T>(weight * p.in_z);
          call.out[2].as<T>()[at_z] += static_cast<T>(d * p.value);
        }
  });
}

}  // namespace

const Op similarity{
    .name = "similarity",
    .doc = "y[n, o] = Σ_i u[o, i] φ(x[n, i], z[o, i])",
    .settings = kind_setting,
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check(in.size() == 3, "similarity has three inputs");
          check_operands("similarity", in[0], in[1], in[2]);
          return std::vector<Type>{{in[0].dtype, {in[0].shape[0], in[1].shape[0]}}};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(similarity_grad, {dy[0], node.inputs[0], node.inputs[1], node.inputs[2]},
                           node.settings);
        },
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          return with_traffic(
              {.work = 3 * terms(in[0], in[1]), .depth = 2.0 + log2_ceiling(in[0].shape[1])}, in,
              out);
        },
    .sharding =
        [](const Settings&, const std::vector<Type>&) {
          return std::string("x[n,i] z[o,i] u[o,i] -> y[n,o]");
        },
    .reference = reference,
    .cases = [] { return cases(false); },
};

const Op similarity_grad{
    .name = "similarity_grad",
    .doc = "dx, dz and du of similarity",
    .settings = kind_setting,
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check(in.size() == 4, "similarity_grad has four inputs");
          check_operands("similarity_grad", in[1], in[2], in[3]);
          return std::vector<Type>{in[1], in[2], in[3]};
        },
    .undifferentiable = "similarity has no second derivative here",
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          const int reduction = log2_ceiling(std::max(in[1].shape[0], in[2].shape[0]));
          return with_traffic({.work = 6 * terms(in[1], in[2]), .depth = 3.0 + reduction}, in, out);
        },
    .sharding =
        [](const Settings&, const std::vector<Type>&) {
          return std::string("dy[n,o] x[n,i] z[o,i] u[o,i] -> dx[n,i] dz[o,i] du[o,i]");
        },
    .reference = reference_grad,
    .cases = [] { return cases(true); },
};

}  // namespace tutti::ops
