// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/bad_step.h"

#include "tutti/train/batch_pointers.h"

namespace tutti {

void explain_bad_step(Replica& replica, const data::Dataset& dataset, const data::Sampler& sampler,
                      data::PrefetchOptions reading, const StepState& state,
                      const StepResult* result) {
  reading.first_step = state.step;
  reading.end_step = state.step + 1;
  data::Prefetch prefetch(dataset, sampler, reading);
  for (int micro_batch = 0; micro_batch < reading.micro_batches; ++micro_batch) {
    const data::Batch& batch = prefetch.next();
    StepState own = state;
    own.origins[StepState::samples] = batch.share.first;
    const std::string culprit = replica.first_not_finite(pointers_of(batch), own);
    if (!culprit.empty()) throw bad_step_error(state.step, result, culprit);
    prefetch.release();
  }
  // The value came from another rank, which is about to say so.
  if (replica.communicator() != nullptr) replica.communicator()->barrier();
  throw bad_step_error(state.step, result, "");
}

}  // namespace tutti
