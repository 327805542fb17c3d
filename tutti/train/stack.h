// SPDX-License-Identifier: Apache-2.0
// Fits a deep stacking network (C16) without gradients. The hidden weights stay as they began. One
// module after the other gets output weights by ridge regression, U = (HHᵀ + λI)⁻¹HTᵀ, of the
// targets T on the module's hidden units H over all training samples.
#pragma once

#include "tutti/recipe/job.h"
#include "tutti/train/evaluate.h"

#include <optional>
#include <string>
#include <vector>

namespace tutti {

struct FittedStack {
  std::vector<double> errors;  // by module: squared error, summed over outputs, mean over samples
  std::optional<Evaluation> test;  // unless train.evaluate_every is 0
};

// Fits the network on one rank. Classes are fitted to 1 for the right one and 0 for the others.
// Writes the job's checkpoint, from which `tutti train --resume` goes on by gradients, and its
// record, in which a step is a module and its loss that module's error; `version` is the program's.
FittedStack fit_stack(const Job& job, double ridge, const std::string& version = "");

}  // namespace tutti
