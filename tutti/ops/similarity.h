// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op similarity;       // similarity(x[n,i], z[o,i], u[o,i]; kind) -> y[n,o]
extern const Op similarity_grad;  // similarity_grad(dy, x, z, u; kind) -> dx, dz, du

}  // namespace tutti::ops
