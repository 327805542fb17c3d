// SPDX-License-Identifier: Apache-2.0
// What a pass may ask a back end, as a struct of functions that kernels/ fills.
#pragma once

#include "tutti/graph/graph.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tutti {

// The layouts that a node wants. A plain layout (the default) asks for row-major.
struct NodeLayouts {
  std::vector<Layout> inputs, outputs;
};

// One way to compute some samples of a batch.
struct FragmentOption {
  std::string variant;
  double seconds = 0;
  std::int64_t scratch_bytes = 0;
};

struct Backend {
  std::string name;
  // The variant that a node should run by: the one that it names, or, where it leaves that open
  // ("auto"), what is chosen; "auto": as the table says.
  std::function<std::string(const Graph&, const Node&)> variant;
  // What matrix products and convolutions multiply, "f32" or "bf16"; sums are floats. "fp16": they
  // multiply floats, and activations are `stored` in IEEE half. "int8": the quantise pass makes
  // integers of what products with weights multiply.
  std::string precision = "f32";
  // A layout of an input in which the node's kernel can read it: itself unless elements of 16 bits
  // must be widened first. Empty: always itself.
  std::function<Layout(const Graph&, const Node&, ValueId input)> readable;
  // The layout in which an activation is kept for others once it is made. Empty: as it was made.
  std::function<Layout(const Type&, const Layout&)> stored;
  // The layouts the node's fastest kernel wants, given the layouts its inputs have now.
  std::function<NodeLayouts(const Graph&, const Node&)> layouts;
  // The ways to compute only so many samples of a node, by its own variant where it names one;
  // none: it is not cut at that size. Empty: nothing is cut.
  std::function<std::vector<FragmentOption>(const Graph&, const Node&, std::int64_t samples)>
      fragment_options;
  std::int64_t workspace_bytes = std::numeric_limits<std::int64_t>::max();  // of one node
  // Whether a tensor of this type is the same bytes in both layouts, so that a view will do.
  std::function<bool(const Type&, const Layout&, const Layout&)> same_bytes;
  // Bytes of scratch memory the node needs while it runs.
  std::function<std::int64_t(const Graph&, const Node&)> scratch_bytes;
  // Whether output `out` may overwrite input `in` with the kernel that will be chosen.
  std::function<bool(const Graph&, const Node&, int in, int out)> in_place;
  // Whether the fuse pass may give this node a bias, a residual or an activation.
  std::function<bool(const Graph&, const Node&)> fusible;
};

}  // namespace tutti
