// SPDX-License-Identifier: Apache-2.0
// Fits a deep stacking network (C16) without gradients: the hidden weights stay as they began, the
// output weights of one module after the other are the ridge regression U = (HHᵀ + λI)⁻¹HTᵀ of the
// targets on its hidden units over all training samples.
#pragma once

#include "tutti/recipe/job.h"
#include "tutti/train/evaluate.h"

#include <optional>
#include <string>
#include <vector>

namespace tutti {

struct FittedStack {
  std::vector<double> errors;  // of each module's output: squared, summed over the outputs, mean
  std::optional<Evaluation> test;  // unless train.evaluate_every is 0
};

// Fits the network on one rank. Classes are fitted to 1 for the right one and 0 for the others.
// Writes the job's checkpoint, from which `tutti train --resume` goes on by gradients, and its
// record, in which a step is a module and its loss that module's error; `version` is the program's.
FittedStack fit_stack(const Job& job, double ridge, const std::string& version = "");

}  // namespace tutti
