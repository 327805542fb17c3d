// SPDX-License-Identifier: Apache-2.0
// A vector of 16 floats, in as many registers as the instruction set needs. Only for sources that
// are compiled once per instruction set, see loops.cpp.
#pragma once

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are only passed to inlined functions

namespace tutti::cpu::TUTTI_ISA {

typedef float Vector __attribute__((vector_size(64)));

[[gnu::always_inline]] inline Vector load(const float* at) {
  Vector v;
  __builtin_memcpy(&v, at, sizeof v);
  return v;
}
[[gnu::always_inline]] inline void store(float* at, const Vector& v) {
  __builtin_memcpy(at, &v, sizeof v);
}

}  // namespace tutti::cpu::TUTTI_ISA
