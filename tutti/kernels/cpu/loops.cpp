// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/loops.h"

namespace tutti::cpu {

namespace baseline {
extern const Loops loops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Loops loops;
}
namespace avx512 {
extern const Loops loops;
}
#endif

const Loops& loops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return avx512::loops;
  // F16C is not asked for, as not every compiler can; every processor with AVX2 has it.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::loops;
#endif
  return baseline::loops;
}

}  // namespace tutti::cpu
