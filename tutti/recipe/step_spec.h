// SPDX-License-Identifier: Apache-2.0
// What a job means for the steps of a rank.
#pragma once

#include "tutti/compile/spec.h"
#include "tutti/recipe/job.h"

namespace tutti {

// The spec of the steps of a rank with `threads` threads; without facts, of one rank alone. The job
// must outlive the spec.
StepSpec step_spec(const Job& job, const NetInput& input, int threads,
                   const TransportFacts& facts = {});

}  // namespace tutti
