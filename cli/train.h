// SPDX-License-Identifier: Apache-2.0
// The command line of tutti train, which tutti launch reads too.
#pragma once

#include "cli/job_options.h"

#include <cstdint>
#include <string>

namespace tutti::cli {

struct TrainArguments {
  JobOptions job;
  std::string folder = "";  // --out
  bool resume = false;
  bool overwrite = false;
  bool quiet = false;
  std::string trace = "";
  std::int64_t trace_steps = 5;
  bool simulate = false;
  int ranks = 0, steps = 1;  // ranks and steps to simulate
  std::string machine = "";
  std::string program = "";  // the path by which the program was called
};

// Adds the options of tutti train to `app`, which fill `arguments`.
void add_train_arguments(CLI::App& app, TrainArguments& arguments);

}  // namespace tutti::cli
