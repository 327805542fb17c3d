// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/compile/compile_step.h"

#include <string>

namespace tutti::cli {

// What the size of the minibatch trades (K10): the predicted time of a step and of a sample, and
// what a noisy quadratic needs to reach its target. Batches 1, 4, 16 … up to four times `batch`.
std::string batches_text(const StepCompiler& compiler, std::int64_t batch, int threads);

}  // namespace tutti::cli
