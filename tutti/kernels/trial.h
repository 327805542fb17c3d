// SPDX-License-Identifier: Apache-2.0
// A trial runs one node alone, by one of the implementations that support it, to measure its time.
#pragma once

#include "tutti/kernels/kernel_table.h"

#include <memory>
#include <vector>

namespace tutti {

// The layouts that the neighbours of a convolution are assumed to have: those that its first
// implementation with layouts wants. Weights and their gradients are always row-major.
NodeLayouts neighbour_layouts(const KernelTable& table, const Graph& graph, const Node& node);

class Trial {
 public:
  // Adds reorders from and to the layouts `neighbours` where the implementation wants other
  // layouts.
  Trial(const KernelTable& table, const Graph& graph, const Node& node,
        const Implementation& implementation, const NodeLayouts& neighbours);

  std::int64_t scratch_bytes() const { return scratch_bytes_; }
  // The median time of several runs; the time of one run when that takes longer than `give_up_ms`.
  double measure_ms(const KernelContext& context, double give_up_ms);

 private:
  // A kernel and the pointers that it is called with.
  struct BoundKernel {
    Kernel kernel;
    std::vector<void*> in, out;
  };
  void prepare(const KernelContext& context);
  void run();

  const KernelTable& table_;
  const Implementation& implementation_;
  Graph graph_;
  std::size_t main_ = 0;  // index of the node that is measured; the other nodes are reorders
  std::int64_t scratch_bytes_ = 0;
  std::vector<DeviceMemory> memory_;
  DeviceMemory scratch_, state_;
  Stream stream_;
  std::vector<BoundKernel> kernels_;
};

}  // namespace tutti
