// SPDX-License-Identifier: Apache-2.0
// Sums of bf16 take a dozen instructions each, so the same loop is compiled for wider vectors too.
// The widest that the processor has is chosen on the first call.
#include "tutti/comm/collectives/algorithms.h"

namespace tutti::collectives {
namespace {

using Add = void (*)(Bf16* __restrict, const Bf16* __restrict, std::int64_t);

[[gnu::always_inline]] inline void add(Bf16* __restrict into, const Bf16* __restrict from,
                                       std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) into[i] += from[i];
}

void add_baseline(Bf16* __restrict into, const Bf16* __restrict from, std::int64_t count) {
  add(into, from, count);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void add_avx2(Bf16* __restrict into, const Bf16* __restrict from,
                                      std::int64_t count) {
  add(into, from, count);
}

[[gnu::target("avx512f,avx512bw,avx512vl,prefer-vector-width=512")]] void add_avx512(
    Bf16* __restrict into, const Bf16* __restrict from, std::int64_t count) {
  add(into, from, count);
}

Add widest() {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) return add_avx512;
  return __builtin_cpu_supports("avx2") ? add_avx2 : add_baseline;
}
#else
Add widest() { return add_baseline; }
#endif

}  // namespace

void accumulate(Bf16* __restrict into, const Bf16* __restrict from, std::int64_t count) {
  static const Add chosen = widest();
  chosen(into, from, count);
}

}  // namespace tutti::collectives
