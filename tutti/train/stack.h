// SPDX-License-Identifier: Apache-2.0
// Fits a deep stacking network (C16) without gradients: the hidden weights stay as they began, the
// output weights of one module after the other are the ridge regression U = (HHᵀ + λI)⁻¹HTᵀ of the
// targets on its hidden units over all training samples.
#pragma once

#include "tutti/train/job.h"

#include <vector>

namespace tutti {

// Fits the network on one rank and writes the job's checkpoint, from which `tutti train --resume`
// goes on by gradients. Returns the mean squared training error of each module's output, summed
// over the outputs. Classes are fitted to 1 for the right one and 0 for the others.
std::vector<double> fit_stack(const Job& job, double ridge);

}  // namespace tutti
