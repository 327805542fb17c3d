// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/data/sampler.h"
#include "tutti/train/training_run.h"

namespace tutti {

// Says which samples each step of a training run reads.
data::Sampler sampler_of(const TrainingRun& run);

}  // namespace tutti
