// SPDX-License-Identifier: Apache-2.0
// The numbers that an update rule gets in one step. Rules are compiled once per instruction set
// (and later for other devices), so these headers include next to nothing and their functions leave
// no out-of-line copy: the linker might keep a copy that was compiled for another processor.
#pragma once

#include <cstdint>

#define TUTTI_INLINE [[gnu::always_inline]] inline

namespace tutti {

struct Hyper {
  double rate = 0;               // learning rate of this step
  double weight_decay = 0;       // λ
  double clip_value = 0;         // each gradient element is clamped to ±clip_value; 0: off
  double scale = 1;              // multiplies the gradient first (loss scale, clipping by norm)
  std::int64_t step = 1;         // 1 at the first update; skipped steps do not count
  const double* rule = nullptr;  // the rule's own settings in declared order
  // Σ w² and Σ d² over the range, d being the rule's direction; nullptr: the sums were not taken,
  // and the range has no trust ratio.
  const double* squares = nullptr;
};

// A setting of a rule: always a number.
struct RuleSetting {
  const char* name;
  double initial, min, max;
  const char* doc;
};

}  // namespace tutti
