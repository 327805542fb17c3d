// SPDX-License-Identifier: Apache-2.0
// Tucker decomposition of a convolution's kernel along its channels (B32): w[o,c,…] = Σ last[o,s]
// core[s,r,…] first[r,c], by higher-order singular value decomposition.
#pragma once

#include "tutti/core/shape.h"

#include <vector>

namespace tutti {

struct TuckerFactors {
  Shape first_shape, core_shape, last_shape;  // [r,c,1…], [s,r,kernel…], [o,s,1…]
  std::vector<double> first, core, last;
  // Sum of the squared singular values left out, over both modes: the squared error is at most
  // this.
  double error_bound = 0;
};

// The factors of w[o, c, kernel…] with r = `in_rank` and s = `out_rank`; throws Error when the
// ranks don't fit the shape.
TuckerFactors tucker(const Shape& shape, const std::vector<double>& w, std::int64_t in_rank,
                     std::int64_t out_rank);

}  // namespace tutti
