// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation as a graph rewrite: gradients are nodes of the same list, so a
// second call differentiates the gradient (Hessian-vector products).
#pragma once

#include "tutti/core/flat.h"
#include "tutti/graph/graph.h"

#include <vector>

namespace tutti {

// Appends the nodes of d(Σ outputs·seeds)/d(wrt) and returns one gradient per entry of wrt,
// no_value where no gradient flows. Contributions to a value that is used twice are added.
std::vector<ValueId> gradients(Graph& graph, const std::vector<ValueId>& outputs,
                               const std::vector<ValueId>& seeds, const std::vector<ValueId>& wrt);

// Differentiates `loss` by every trainable parameter and places the results in the flat vector g.
// parameters[i] is the graph value of table.ranges[i].
void differentiate(Graph& graph, ValueId loss, const RangeTable& table,
                   const std::vector<ValueId>& parameters);

}  // namespace tutti
