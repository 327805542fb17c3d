// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/data/sampler.h"
#include "tutti/train/training_run.h"

namespace tutti {

// Which samples the steps of a run read.
data::Sampler sampler_of(const TrainingRun& run);

}  // namespace tutti
