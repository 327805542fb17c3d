// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/matmul_i8.h"

#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {
namespace {

std::vector<Type> infer(const Settings&, const std::vector<Type>& in) {
  const Shape &a = in.at(0).shape, &b = in.at(1).shape;
  if (in[0].dtype != DType::i8 || in[1].dtype != DType::i8 || a.size() != 2 || b.size() != 2 ||
      a[1] != b[1])
    throw Error("[matmul_i8] factors are {} {} and {} {}, expected i8 [m,k] and i8 [n,k]",
                name_of(in[0].dtype), to_string(a), name_of(in[1].dtype), to_string(b));
  if (a[1] > matmul_i8_most_products)
    throw Error("[matmul_i8] adds up {} products, expected at most {}: more overflow 32 bits", a[1],
                matmul_i8_most_products);
  return {{DType::i32, {a[0], b[0]}}};
}

Cost cost(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  const std::int64_t k = in[0].shape[1];
  const double products = static_cast<double>(elements(out[0].shape)) * static_cast<double>(k);
  return with_traffic(
      {.work = products, .depth = static_cast<double>(log2_ceiling(k)), .multiply_adds = products},
      in, out);
}

void reference(const Call& call) {
  const std::int64_t m = call.out[0].shape[0], n = call.out[0].shape[1], k = call.in[0].shape[1];
  const auto *a = call.in[0].as<std::int8_t>(), *b = call.in[1].as<std::int8_t>();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      std::int32_t sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum += a[i * k + p] * b[j * k + p];
      call.out[0].as<std::int32_t>()[i * n + j] = sum;
    }
}

}  // namespace

const Op matmul_i8{
    .name = "matmul_i8",
    .doc = "sums = a bᵀ of 8-bit integers, exact in 32 bits",
    .infer = infer,
    .undifferentiable = "integers have no derivative: it is for inference",
    .cost = cost,
    .sharding = [](const Settings&,
                   const std::vector<Type>&) { return std::string("a[m,k] b[n,k] -> sums[m,n]"); },
    .reference = reference,
    .cases =
        [] {
          std::vector<OpCase> all;
          for (const auto& [m, n, k] : {std::tuple{3, 7, 5}, {1, 1, 1}, {5, 33, 130}})
            all.push_back(
                {.settings = {}, .in = {{DType::i8, {m, k}}, {DType::i8, {n, k}}}, .classes = 128});
          return all;
        },
};

}  // namespace tutti::ops
