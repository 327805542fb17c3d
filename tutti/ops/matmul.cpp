// SPDX-License-Identifier: Apache-2.0
// Matrix products, batched over equal leading dimensions (B01, B02). A linear layer is
// matmul(x[n,i], w[o,i], transpose_b); its gradients are matmuls again. Letters: y[m,n] = Σ_k a b.
#include "tutti/ops/matmul.h"

#include "tutti/ops/shared/epilogue.h"
#include "tutti/ops/shared/precision.h"

#include <algorithm>

namespace tutti::ops {
namespace {

struct Sizes {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
};

Sizes sizes_of(const Settings& settings, const Shape& a, const Shape& b) {
  const std::size_t row = a.size() - 2, column = a.size() - 1;
  const bool ta = settings.flag("transpose_a"), tb = settings.flag("transpose_b");
  return {.batch = elements(a, 0, row),
          .m = a[ta ? column : row],
          .n = b[tb ? row : column],
          .k = a[ta ? row : column]};
}

std::vector<Type> infer(const Settings& settings, const std::vector<Type>& in) {
  const Shape &a = in.at(0).shape, &b = in.at(1).shape;
  if (in[0].dtype != in[1].dtype || !is_float(in[0].dtype))
    throw Error("[matmul] factors are {} and {}, expected one floating-point type",
                name_of(in[0].dtype), name_of(in[1].dtype));
  if (a.size() < 2 || a.size() != b.size() || !std::equal(a.begin(), a.end() - 2, b.begin()))
    throw Error("[matmul] factors are {} and {}, expected two matrices or equal leading extents",
                to_string(a), to_string(b));
  const Sizes sizes = sizes_of(settings, a, b);
  const std::int64_t other = b[b.size() - (settings.flag("transpose_b") ? 1 : 2)];
  if (sizes.k != other)
    throw Error("[matmul] {}{} times {}{}: the inner extents {} and {} differ", to_string(a),
                settings.flag("transpose_a") ? " transposed" : "", to_string(b),
                settings.flag("transpose_b") ? " transposed" : "", sizes.k, other);
  Type y{in[0].dtype, Shape(a.begin(), a.end() - 2)};
  y.shape.insert(y.shape.end(), {sizes.m, sizes.n});
  check_epilogue("matmul", in, y, sizes.n);
  return {y};
}

// With A = a or aᵀ and B = b or bᵀ: dA = dy Bᵀ and dB = Aᵀ dy, transposed back where needed.
std::vector<ValueId> gradient(Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
  check(!has_epilogue(node.settings, graph.types(node.inputs)), "fusion comes after autodiff");
  const ValueId a = node.inputs[0], b = node.inputs[1];
  const bool ta = node.settings.flag("transpose_a"), tb = node.settings.flag("transpose_b");
  const auto product = [&](ValueId left, ValueId right, bool transpose_left, bool transpose_right) {
    return graph.add1(matmul, {left, right},
                      {{"transpose_a", transpose_left}, {"transpose_b", transpose_right}});
  };
  // The gradient of the weights first: it may travel while the backward pass goes on.
  const ValueId db = tb ? product(dy[0], a, true, ta) : product(a, dy[0], !ta, false);
  const ValueId da = ta ? product(b, dy[0], tb, true) : product(dy[0], b, false, !tb);
  return {da, db};
}

Cost cost(const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
  const Sizes sizes = sizes_of(settings, in[0].shape, in[1].shape);
  const double products =
      static_cast<double>(elements(out[0].shape)) * static_cast<double>(sizes.k);
  const Cost plain{.work = products,
                   .depth = static_cast<double>(log2_ceiling(sizes.k)),
                   .multiply_adds = products};
  return with_traffic(add_epilogue(plain, settings, in, out[0]), in, out);
}

// A split of k leaves partial sums, which must be whole before an epilogue.
std::string sharding(const Settings& settings, const std::vector<Type>& in) {
  std::string leading;
  for (std::size_t d = 0; d + 2 < in[0].shape.size(); ++d)
    leading += std::string(1, static_cast<char>('a' + d)) + ",";
  const char* k = has_epilogue(settings, in) ? "*" : "k";
  const auto matrix = [&](bool transposed, const char* row, const char* column) {
    return leading + (transposed ? column : row) + "," + (transposed ? row : column);
  };
  return fmt::format("a[{}] b[{}]{} -> y[{}m,n]", matrix(settings.flag("transpose_a"), "m", k),
                     matrix(settings.flag("transpose_b"), k, "n"),
                     epilogue_indices(in, "n", leading + "m,n"), leading);
}

void reference(const Call& call) {
  const Sizes sizes = sizes_of(call.settings, call.in[0].shape, call.in[1].shape);
  const auto [batch, m, n, k] = sizes;
  const bool ta = call.settings.flag("transpose_a"), tb = call.settings.flag("transpose_b");
  dispatch_float(call.out[0].dtype, [&, batch = batch, m = m, n = n, k = k](auto zero) {
    using T = decltype(zero);
    std::vector<T> product(static_cast<std::size_t>(batch * m * n));
    std::size_t next = 0;
    for (std::int64_t s = 0; s < batch; ++s) {
      const T* a = call.in[0].as<T>() + s * m * k;
      const T* b = call.in[1].as<T>() + s * k * n;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j, ++next)
          for (std::int64_t p = 0; p < k; ++p)
            product[next] += a[ta ? p * m + i : i * k + p] * b[tb ? j * k + p : p * n + j];
    }
    apply_epilogue(call, product, n, 1);
  });
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const Settings settings{{"transpose_a", ta}, {"transpose_b", tb}};
      const Shape a = ta ? Shape{5, 3} : Shape{3, 5}, b = tb ? Shape{7, 5} : Shape{5, 7};
      all.push_back({settings, {{DType::f64, a}, {DType::f64, b}}});
      Shape batched_a{2, 3}, batched_b{2, 3};
      batched_a.insert(batched_a.end(), a.begin(), a.end());
      batched_b.insert(batched_b.end(), b.begin(), b.end());
      all.push_back({settings, {{DType::f64, batched_a}, {DType::f64, batched_b}}});
    }
  const Type a{DType::f64, {3, 5}}, b{DType::f64, {7, 5}}, bias{DType::f64, {7}};
  const Type y{DType::f64, {3, 7}};
  for (const char* activation : {"none", "relu", "leaky_relu", "sigmoid", "tanh", "gelu"})
    all.push_back({{{"transpose_b", true}, {"activation", activation}}, {a, b, bias}});
  all.push_back({{{"transpose_b", true}, {"activation", "relu"}}, {a, b, bias, y}});
  all.push_back({{{"transpose_b", true}}, {a, b, Type{}, y}});
  all.push_back({{{"activation", "tanh"}}, {{DType::f64, {1, 1}}, {DType::f64, {1, 1}}}});
  return all;
}

}  // namespace

const Op matmul{
    .name = "matmul",
    .doc = "y = a b over the last two dimensions, either factor transposed on request",
    .settings = {{.name = "transpose_a", .initial = false, .doc = "a is stored as [k,m]"},
                 {.name = "transpose_b", .initial = false, .doc = "b is stored as [n,k]"},
                 precision_setting(),
                 activation_setting(),
                 activation_slope_setting()},
    .infer = infer,
    .gradient = gradient,
    .cost = cost,
    .sharding = sharding,
    .reference = reference,
    .cases = cases,
};

}  // namespace tutti::ops
