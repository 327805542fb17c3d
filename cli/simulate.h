// SPDX-License-Identifier: Apache-2.0
// tutti train --simulate: predicts the time of a step on any number of ranks, without these ranks.
#pragma once

#include "cli/job_options.h"

#include <string>

namespace tutti::cli {

struct SimulateArguments {
  JobOptions job;  // its recipe may also be a model
  int ranks = 0;   // 0: the ranks of the recipe
  int steps = 1;
  std::string machine = "";  // a TOML file with a table [simulation], or the name of a shipped one
  std::string trace = "";
};

int simulate(SimulateArguments options);

}  // namespace tutti::cli
