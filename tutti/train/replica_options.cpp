// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/replica_options.h"

#include "tutti/recipe/step_spec.h"
#include "tutti/train/simulated_step.h"

namespace tutti {

ReplicaOptions replica_options(const Job& job, const NetInput& input, int threads,
                               Communicator* communicator) {
  const TransportFacts facts = communicator == nullptr ? TransportFacts{} : communicator->facts();
  return {step_spec(job, input, threads, facts), communicator, virtual_seconds(job, threads)};
}

}  // namespace tutti
