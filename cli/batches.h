// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/compile/compile_step.h"

#include <string>

namespace tutti::cli {

// A table of what the size of the minibatch trades (K10): the predicted time of a step and of a
// sample, and the steps that a noisy quadratic needs to reach its target. A row for each of the
// batches 1, 4, 16 … up to four times `batch`.
std::string batches_text(const StepCompiler& compiler, std::int64_t batch, int threads);

}  // namespace tutti::cli
