// SPDX-License-Identifier: Apache-2.0
// Which choices of a recipe can't go together is said by the entries themselves: each may look at
// the others and at what the rest of the recipe asks for.
#pragma once

#include "tutti/core/dtype.h"

#include <cstdint>
#include <string>

namespace tutti {

struct Scheme;

// What an entry may ask about a recipe beside its scheme.
struct SchemeUse {
  DType dtype = DType::f32;        // of parameters and arithmetic
  std::int64_t micro_batches = 1;  // of a step
  bool scales_loss = false;
  bool augments = false;       // a sample is changed at random whenever it is read
  bool needs_norms = false;    // updates read norms over blocks
  bool changes_batch = false;  // by what gradients show
  std::string local_rule = "none";
};

// Why an entry can't be used in this scheme, and what it expects; "": it can. It stands behind
// "'key' is "entry", but".
using Objection = std::string (*)(const Scheme&, const SchemeUse&);

}  // namespace tutti
