// SPDX-License-Identifier: Apache-2.0
// From a network and a scheme to the step of a rank: a pure function of values. Training, show, the
// simulator and the search for block sizes call the same function. No memory is taken, no weights
// are made and nothing is sent.
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
  int cells = 0, recomputed = 0;  // cells of the network; cells that are computed again
  double extra_work = 0;          // estimated seconds of recomputation per second of the step
  std::int64_t bytes = 0;         // flat vectors and arena
};

// A compiled step, and a report of what made it.
struct Compiled {
  CompiledStep step;
  std::vector<PassReport> passes = {};
  MemoryReport memory = {};
};

// Ranks that run the same compiled step. It is compiled once for all of them, then bound to each.
struct Role {
  Purpose purpose;
  std::vector<int> ranks = {};
};
// The roles of ranks with these purposes, given by rank. Ranks with equal purposes have one role.
std::vector<Role> roles_of(const std::vector<Purpose>& of_ranks);

// Compiles the step of all ranks with this purpose. Its numbers are those of `rank`; bind() changes
// them to those of another rank (graph/bind.h). `kernels` are those of spec.backend, with a team of
// spec.threads threads (kernels ask it how much scratch memory they need); `vectors` is
// plan_vectors(spec).
Compiled compile_step(const StepSpec& spec, const VectorPlan& vectors, const KernelTable& kernels,
                      const Purpose& purpose, int rank = 0);

// Compiles what the endpoint beside rank spec.facts.rank does for one step of rank `worker`, where
// ranks do not meet (exchange/stores/endpoints.h).
CompiledStep compile_service(const StepSpec& spec, const VectorPlan& vectors,
                             const KernelTable& kernels, int worker);

// Compiles the steps of a spec, and keeps what they have in common: kernels and vector plan.
class StepCompiler {
 public:
  // Prepares the calling thread's team of threads for the kernels, which may bind them to cores.
  explicit StepCompiler(StepSpec spec);

  const StepSpec& spec() const { return spec_; }
  const VectorPlan& vectors() const { return vectors_; }
  const KernelTable& kernels() const { return kernels_; }
  Compiled compile(const Purpose& purpose) const {
    return compile_step(spec_, vectors_, kernels_, purpose);
  }
  // Binds the compiled step of a role to rank spec().facts.rank.
  CompiledStep bound(CompiledStep step) const;

 private:
  KernelTable kernels_;
  StepSpec spec_;
  VectorPlan vectors_;
};

}  // namespace tutti
