// SPDX-License-Identifier: Apache-2.0
// Normalisation within samples: layer, group and RMS normalisation are its settings.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// sample_norm(x, [gain], [shift]) -> y
extern const Op sample_norm;
// sample_norm_grad(dy, x, [gain]; with_shift) -> dx, [dgain], [dshift]
extern const Op sample_norm_grad;
// sample_norm_grad2([v_dx], [v_dgain], [v_dshift], dy, x, [gain]) -> gradients of sample_norm_grad
// in dy, x, [gain]
extern const Op sample_norm_grad2;

// How a tensor is cut into rows, each normalised by itself. A row is `extent` consecutive elements;
// element e of a sample is multiplied by gain[e / span].
struct NormalisedRows {
  std::int64_t rows = 1, extent = 1;  // `groups` consecutive rows make a sample
  std::int64_t groups = 1;
  std::int64_t gains = 0, span = 1;  // elements of gain and shift; 0 gains: neither is there
};

// `gains` are the elements of gain or shift; throws Error("[name] …") when their number does not
// fit x.
NormalisedRows normalised_rows(const char* name, const Settings& settings, const Shape& x,
                               std::int64_t gains);

}  // namespace tutti::ops
