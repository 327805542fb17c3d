// SPDX-License-Identifier: Apache-2.0
// Work and depth of a training step (K01, K02, K12): by operator as in Table 4 of the ACM survey,
// by layer and in all.
#pragma once

#include "tutti/graph/cost.h"
#include "tutti/graph/graph.h"

#include <string>
#include <vector>

namespace tutti {

// What a node of a training step computes: the output of its layer, the gradient by the layer's
// input, or that by its parameters.
enum class Evaluates { y, dx, dw };
const char* name_of(Evaluates what);  // "y", "∇x", "∇w"

// One entry per node. Nodes that were there before autodiff have origins below `forward_origins`.
std::vector<Evaluates> evaluations(const Graph& step, int forward_origins);

// Time in operations on p processors by any schedule that leaves none idle while there is work:
// max(W/p, D) ≤ T_p ≤ W/p + D (Brent; the survey prints min on the left, erratum 4).
struct ScheduleBounds {
  double least = 0, most = 0;
};
ScheduleBounds schedule_bounds(const Cost& cost, double processors);

// W/D, the processors that could be busy on average.
double parallelism(const Cost& cost);

// All nodes of one operator that evaluate the same.
struct OperatorRow {
  std::string op;
  Evaluates what = Evaluates::y;
  int nodes = 0;
  double work = 0, depth = 0;               // depth: of the deepest node
  std::string work_formula, depth_formula;  // Table 4's, corrected; empty where it has no such row
  std::string printed_depth;                // as the survey prints it
};

struct LayerRow {
  std::string name;
  Cost y, dx, dw;
};

struct WorkDepth {
  std::vector<OperatorRow> operators;  // most work first
  std::vector<LayerRow> layers;        // in order of their first node
  Cost forward, backward, step;        // depth: of the longest path
};

WorkDepth work_depth(const Graph& step, int forward_origins);

}  // namespace tutti
