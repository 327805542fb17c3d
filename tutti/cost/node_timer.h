// SPDX-License-Identifier: Apache-2.0
// A few nodes as a program of their own, to be timed: through the passes and the kernel table,
// as in a training step.
#pragma once

#include "tutti/exec/program.h"

#include <memory>
#include <vector>

namespace tutti {

class NodeTimer {
 public:
  // The values of `graph` without producer are filled with numbers around one; its outputs must be
  // listed.
  NodeTimer(Graph graph, const KernelTable& kernels, int threads);
  NodeTimer(const NodeTimer&) = delete;
  NodeTimer& operator=(const NodeTimer&) = delete;

  // Seconds of each node of the program: the least of several runs, since other programs of the
  // machine only ever add to a time. Runs that other programs interrupt are repeated, within
  // limits.
  std::vector<double> measure(int runs, double enough_seconds);
  // Whether all runs of the last measurement were interrupted.
  bool disturbed() const { return disturbed_; }

  const Program& program() const { return *program_; }

 private:
  List<Rule> rules_;
  std::shared_ptr<std::byte> inputs_, arena_;
  Bases bases_;
  std::unique_ptr<Program> program_;
  bool disturbed_ = false;
};

}  // namespace tutti
