// SPDX-License-Identifier: Apache-2.0
// Failures on purpose (L12), to see that a run ends as it should: at a step, a rank throws, exits,
// is killed or hangs.
#pragma once

#include <cstdint>
#include <string>

namespace tutti {

struct Fault {
  enum Kind { none, raise, leave, kill, hang };
  Kind kind = none;
  int rank = 0;
  std::int64_t step = 0;  // updates done when the fault strikes

  // Fails where this is the fault's rank and step; returns otherwise.
  void strike(int own_rank, std::int64_t own_step) const;
};

// "hang 1 20": throw, exit, kill or hang, rank, step; "none". Throws Error on anything else.
Fault fault_named(const std::string& text);

}  // namespace tutti
