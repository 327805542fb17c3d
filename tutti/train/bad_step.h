// SPDX-License-Identifier: Apache-2.0
// Finds what went wrong in a step whose loss or gradient was not finite. The host may learn of a
// bad step when its batch is gone and several steps have passed: the batch is read again and, since
// nothing was updated meanwhile, the step is run again.
#pragma once

#include "tutti/data/prefetch.h"
#include "tutti/train/replica.h"

namespace tutti {

// Throws Error naming the step and the first operator whose result was not finite. `reading` says
// how batches are read; `state` and `result` are those of the step (nullptr: its result was not
// read). Every rank calls this.
[[noreturn]] void explain_bad_step(Replica& replica, const data::Dataset& dataset,
                                   const data::Sampler& sampler, data::PrefetchOptions reading,
                                   const StepState& state, const StepResult* result);

}  // namespace tutti
