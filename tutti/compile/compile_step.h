// SPDX-License-Identifier: Apache-2.0
// From a network and a scheme to the step of a rank: a pure function of values. Training, show, the
// simulator and the search for block sizes call the same one. No memory is taken, no weights are
// made and nothing is sent.
#pragma once

#include "tutti/compile/rewrites.h"
#include "tutti/compile/spec.h"
#include "tutti/compile/vectors.h"
#include "tutti/passes/pass.h"

#include <cstdint>
#include <vector>

namespace tutti {

// What was decided about the memory of a training step.
struct MemoryReport {
  int cells = 0, recomputed = 0;
  double extra_work = 0;   // part of a step that is done again, estimated
  std::int64_t bytes = 0;  // flat vectors and arena
};

struct Compiled {
  CompiledStep step;
  std::vector<PassReport> passes = {};
  MemoryReport memory = {};
};

// Ranks that run the same compiled step: it is made once for all of them and then bound to each.
struct Role {
  Purpose purpose;
  std::vector<int> ranks = {};
};
// Ranks with equal purposes have one role.
std::vector<Role> roles_of(const std::vector<Purpose>& of_ranks);

// The step of all ranks with this purpose. Its numbers are those of `rank`: the first stands for
// all, and what another one has follows by bind(). `kernels` are those of spec.backend, and their
// team is prepared for spec.threads (kernels ask it how much scratch memory they need); `vectors`
// are those of the spec.
Compiled compile_step(const StepSpec& spec, const VectorPlan& vectors, const KernelTable& kernels,
                      const Purpose& purpose, int rank = 0);

// What the endpoint beside rank spec.facts.rank does for one step of `worker`, where ranks do not
// meet (exchange/stores/endpoints.h).
CompiledStep compile_service(const StepSpec& spec, const VectorPlan& vectors,
                             const KernelTable& kernels, int worker);

// A spec, and what all its steps have in common.
class StepCompiler {
 public:
  // Prepares the calling thread's team for the kernels, which may bind it to cores.
  explicit StepCompiler(StepSpec spec);

  const StepSpec& spec() const { return spec_; }
  const VectorPlan& vectors() const { return vectors_; }
  const KernelTable& kernels() const { return kernels_; }
  Compiled compile(const Purpose& purpose) const {
    return compile_step(spec_, vectors_, kernels_, purpose);
  }
  // The compiled step of a role as that of rank spec().facts.rank.
  CompiledStep bound(CompiledStep step) const;

 private:
  KernelTable kernels_;
  StepSpec spec_;
  VectorPlan vectors_;
};

}  // namespace tutti
