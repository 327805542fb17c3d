// SPDX-License-Identifier: Apache-2.0
// Trains a job to its end: ranks, records, checkpoints, evaluation.
#pragma once

#include "tutti/train/training_run.h"

namespace tutti {

TrainSummary train(const Job& job, const TrainOptions& options);

}  // namespace tutti
