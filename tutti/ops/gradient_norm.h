// SPDX-License-Identifier: Apache-2.0
// The Euclidean norm of the gradient from its sum of squares.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op gradient_norm;  // gradient_norm(Σ g²; dtype) -> √Σ g²

}  // namespace tutti::ops
