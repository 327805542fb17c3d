// SPDX-License-Identifier: Apache-2.0
// One rank's training: the worker loop.
#pragma once

#include "tutti/train/training_run.h"

namespace tutti {

// Trains as one rank. Every rank of the communicator calls this; only rank 0's summary is complete.
TrainSummary work(const TrainingRun& run, Communicator& communicator);

}  // namespace tutti
