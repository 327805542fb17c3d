// SPDX-License-Identifier: Apache-2.0
// Makes the implementations of convolution and its two gradients from one of our own methods. A
// method computes x, w or y only; bias, residual, activation and the gradient of the bias are added
// here.
#pragma once

#include "tutti/kernels/cpu/convolution/sizes.h"
#include "tutti/kernels/cpu/convolution/variants.h"

#include <type_traits>

namespace tutti::cpu {

// The layout of the images that a method works on: row-major; in blocks of 16 channels (nChw16c,
// with weights in OIhw16i16o, for the input's gradient OIhw16o16i); or with the samples innermost.
enum class Images { nchw, blocked, chwn };

// One of our own methods to compute a convolution.
struct OwnMethod {
  const char *name, *doc;
  bool (*supports)(const Sizes&, Direction);
  std::int64_t (*scratch_floats)(const Sizes&, Direction, int threads);
  void (*run)(const Sizes&, Direction, const Operands&, float* scratch, int threads);
  // Whether the method may be chosen where no times were measured; nullptr: never.
  bool (*preferred)(const Sizes&, Direction) = nullptr;
  bool finishes = false;  // run() adds Operands::bias and applies ReLU where Operands::relu
  Images images = Images::nchw;
};

// OwnMethod::run of a method that has a function for each direction; a function that needs no
// scratch memory does not take it.
template <auto forward, auto input, auto weight>
void run_by_direction(const Sizes& sizes, Direction direction, const Operands& all, float* scratch,
                      int threads) {
  const auto run = [&](auto function) {
    if constexpr (std::is_invocable_v<decltype(function), const Sizes&, const Operands&, int>)
      function(sizes, all, threads);
    else
      function(sizes, all, scratch, threads);
  };
  if (direction == Direction::forward) return run(forward);
  if (direction == Direction::input) return run(input);
  run(weight);
}

// The members of the Implementation of a method for one direction.
bool own_supports(const OwnMethod&, Direction, const Graph&, const Node&);
bool own_preferred(const OwnMethod&, Direction, const Graph&, const Node&);
Kernel own_make(const OwnMethod&, Direction, const Graph&, const Node&, const KernelContext&);
// The layouts of methods whose images are not row-major.
NodeLayouts own_layouts(Images, Direction, const Graph&, const Node&);
bool own_fits(Images, Direction, const Graph&, const Node&);
std::int64_t own_scratch_bytes(const OwnMethod&, Direction, const Graph&, const Node&);

template <const OwnMethod& method, Direction d>
Implementation own_implementation() {
  Implementation made{
      .name = method.name,
      .supports = [](const Graph& graph,
                     const Node& node) { return own_supports(method, d, graph, node); },
      .make =
          [](const Graph& graph, const Node& node, const KernelContext& context) {
            return own_make(method, d, graph, node, context);
          },
      .scratch_bytes = [](const Graph& graph,
                          const Node& node) { return own_scratch_bytes(method, d, graph, node); },
      .preferred = [](const Graph& graph,
                      const Node& node) { return own_preferred(method, d, graph, node); },
      .doc = method.doc};
  if (method.images != Images::nchw) {
    made.layouts = [](const Graph& graph, const Node& node) {
      return own_layouts(method.images, d, graph, node);
    };
    made.fits = [](const Graph& graph, const Node& node) {
      return own_fits(method.images, d, graph, node);
    };
  }
  return made;
}

template <const OwnMethod& method>
ConvolutionVariant own_convolution() {
  return {own_implementation<method, Direction::forward>(),
          own_implementation<method, Direction::input>(),
          own_implementation<method, Direction::weight>()};
}

}  // namespace tutti::cpu
