// SPDX-License-Identifier: Apache-2.0
#include "bench/peaks.h"

#include "tutti/kernels/backends.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/matmul.h"

#include "bench/round_trip.h"
#include "bench/time_operator.h"

namespace tutti::bench {
namespace {

using contract::Array;

constexpr std::int64_t product_extent = 2048;
constexpr std::int64_t copy_elements = std::int64_t{64} << 20 >> 2;  // 64 MiB

// Dot products of some rows and columns; all of them would take the reference too long.
void check_product(const Array& a, const Array& b, const Array& y) {
  for (std::int64_t sample = 0; sample < 64; ++sample) {
    const auto i =
        static_cast<std::int64_t>(draw(1, static_cast<std::uint64_t>(2 * sample)) % product_extent);
    const auto j = static_cast<std::int64_t>(draw(1, static_cast<std::uint64_t>(2 * sample + 1)) %
                                             product_extent);
    double sum = 0;
    for (std::int64_t k = 0; k < product_extent; ++k)
      sum += a.get(i * product_extent + k) * b.get(k * product_extent + j);
    if (!(std::abs(y.get(i * product_extent + j) - sum) < 1e-3 * std::sqrt(product_extent)))
      throw Error("peak product: y[{},{}] is {}, expected {}", i, j, y.get(i * product_extent + j),
                  sum);
  }
}

double measure_product(const Options& options, const KernelTable& kernels, int threads,
                       Records& records) {
  const Type type{DType::f32, {product_extent, product_extent}};
  const std::vector<Array> in = {contract::random_array(type, 1), contract::random_array(type, 2)};
  contract::OneNode product(ops::matmul, {}, in, kernels, threads);
  product.run();
  check_product(in[0], in[1], product.outputs()[0]);
  const Work work = work_of(product);
  const Spread ms = time_operator(product, options.quick ? 3 : 11, 0);
  records.time(fmt::format("peak/product 2048/{}", threads_text(threads)), ms, work, {},
               round_trip_ns());
  return work.flops / (ms.min / 1e3);
}

double measure_copy(const Options& options, const KernelTable& kernels, int threads,
                    Records& records) {
  const std::vector<Array> in = {contract::random_array({DType::f32, {copy_elements}}, 3)};
  contract::OneNode copy(ops::copy, {}, in, kernels, threads);
  copy.run();
  if (copy.outputs()[0].memory != in[0].memory) throw Error("peak copy: the copy differs");
  const Work work = work_of(copy);
  const Spread ms = time_operator(copy, options.quick ? 3 : 11, 0);
  records.time(fmt::format("peak/copy 64 MiB/{}", threads_text(threads)), ms, work, {},
               round_trip_ns());
  return work.bytes / (ms.min / 1e3);
}

}  // namespace

Peaks measure_peaks(const Options& options, Records& records) {
  const KernelTable kernels = cpu_kernels();
  Peaks peaks;
  for (const int threads : options.threads) {
    kernels.prepare(threads, 0, 1);
    peaks[threads] = {measure_product(options, kernels, threads, records),
                      measure_copy(options, kernels, threads, records)};
  }
  return peaks;
}

}  // namespace tutti::bench
