// SPDX-License-Identifier: Apache-2.0
// What a pass may ask a back end, as a struct of functions that kernels/ fills.
#pragma once

#include "tutti/graph/graph.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tutti {

// The layouts in which a node wants its inputs and outputs. A plain layout (the default) asks for
// row-major.
struct NodeLayouts {
  std::vector<Layout> inputs, outputs;
};

// One way to compute a fragment of a node, which is some of its samples: kernel variant, time and
// memory.
struct FragmentOption {
  std::string variant;
  double seconds = 0;
  std::int64_t scratch_bytes = 0;
};

struct Backend {
  std::string name;
  // The kernel variant of a node: the one that its settings name, or the back end's choice where
  // they say "auto". The result "auto" leaves the choice to the order of the kernel table.
  std::function<std::string(const Graph&, const Node&)> variant;
  // The type of the factors in matrix products and convolutions, "f32" or "bf16"; sums are floats.
  // "fp16": the factors are floats, and activations are `stored` in IEEE half. "int8": the quantise
  // pass turns the factors of products with weights into integers.
  std::string precision = "f32";
  // The layout in which the node's kernel can read an input: the layout that the input has, unless
  // elements of 16 bits must be widened first. No function: always the layout that it has.
  std::function<Layout(const Graph&, const Node&, ValueId input)> readable;
  // The layout in which an activation is kept for its readers, given the layout in which it is
  // made. No function: the layout in which it is made.
  std::function<Layout(const Type&, const Layout&)> stored;
  // The layouts the node's fastest kernel wants, given the layouts its inputs have now.
  std::function<NodeLayouts(const Graph&, const Node&)> layouts;
  // The ways to compute `samples` samples of a node at a time, all by one variant where the node
  // names it. An empty list: the node is not cut to that size. No function: no node is cut.
  std::function<std::vector<FragmentOption>(const Graph&, const Node&, std::int64_t samples)>
      fragment_options;
  // Most scratch memory that one node may need.
  std::int64_t workspace_bytes = std::numeric_limits<std::int64_t>::max();
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
