// SPDX-License-Identifier: Apache-2.0
// The entries of a scheme say themselves what they can't be combined with: each may look at the
// other choices and at what the rest of the recipe asks for.
#pragma once

#include "tutti/core/dtype.h"

#include <cstdint>
#include <string>

namespace tutti {

struct Scheme;

// What an entry may know of a recipe besides the scheme.
struct SchemeUse {
  DType dtype = DType::f32;        // of parameters and arithmetic
  std::int64_t micro_batches = 1;  // of a step
  bool scales_loss = false;
  bool augments = false;       // a sample is changed at random whenever it is read
  bool needs_norms = false;    // updates read norms over blocks
  bool changes_batch = false;  // the batch depends on the variance of gradients
  std::string local_rule = "none";
};

// Why an entry can't be used in this scheme, and what it expects; "": it can be used. The text
// completes the message "'key' is "entry", but".
using Objection = std::string (*)(const Scheme&, const SchemeUse&);

}  // namespace tutti
