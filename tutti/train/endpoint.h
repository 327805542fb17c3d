// SPDX-License-Identifier: Apache-2.0
// An endpoint of the store beside a rank, on a thread of its own with its own end of the
// communicator. It has a service for every rank: a compiled step that waits for what the rank
// pushes, applies the rule and answers. Whichever rank comes first is served first.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/train/training_run.h"

namespace tutti {

// Serves until the rank beside the endpoint says that training is over.
void serve_store(const TrainingRun& run, Communicator& communicator);

}  // namespace tutti
