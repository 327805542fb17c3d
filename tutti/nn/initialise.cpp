// SPDX-License-Identifier: Apache-2.0
// The first values of the parameters (A05), each a pure function of (seed, range, element), so that
// they do not depend on threads, ranks or data type.
#include "tutti/core/rng.h"
#include "tutti/nn/net.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

double first_value(const Initialiser& how, std::uint64_t key, std::uint64_t i) {
  const double fan_in = static_cast<double>(how.fan_in);
  switch (how.kind) {
    case Initialiser::zero:
      return 0;
    case Initialiser::one:
      return 1;
    case Initialiser::constant:
      return how.value;
    case Initialiser::he:
      return normal(key, i) * std::sqrt(2 / fan_in);
    case Initialiser::xavier:
      return normal(key, i) * std::sqrt(2 / (fan_in + static_cast<double>(how.fan_out)));
    case Initialiser::uniform_fan_in:
      return (2 * uniform(key, i) - 1) / std::sqrt(fan_in);
    case Initialiser::given:
      return how.values[i];
  }
  return 0;
}

void fill(const RangeTable& table, const std::vector<Initialiser>& initialisers, DType dtype,
          std::uint64_t seed, void* vector) {
  dispatch_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* flat = static_cast<T*>(vector);
    std::fill_n(flat, table.count(), T{0});
    for (std::size_t r = 0; r < table.ranges.size(); ++r) {
      const Range& range = table.ranges[r];
      const std::uint64_t key = fold(mix(seed), r);
      for (std::int64_t i = 0; i < range.count; ++i)
        flat[range.offset + i] =
            static_cast<T>(first_value(initialisers[r], key, static_cast<std::uint64_t>(i)));
    }
  });
}

}  // namespace

void initialise(const Net& net, std::uint64_t seed, void* w) {
  fill(net.table, net.initialisers, net.dtype, seed, w);
}

void initialise_state(const Net& net, void* s) {
  fill(net.state_table, net.state_initialisers, net.dtype, 0, s);
}

}  // namespace tutti
