// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"
#include "tutti/ops/shared/convolution_geometry.h"

namespace tutti::ops {

// convolution(x[n,c,spatial…], w[o,c/groups,kernel…], [bias o], [residual y]) -> y[n,o,spatial…]
extern const Op convolution;
// convolution_grad_input(dy, w) -> dx
extern const Op convolution_grad_input;
// convolution_grad_weight(x, dy) -> dw, and db[o] when `with_bias`
extern const Op convolution_grad_weight;

// The sizes of a node whose operator is one of these three.
Geometry geometry_of(const Graph& graph, const Node& node);

}  // namespace tutti::ops
