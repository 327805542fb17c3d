// SPDX-License-Identifier: Apache-2.0
// The subcommands: a list like any other. A new command is a file beside this one, a line here and
// a line in main.cpp.
#pragma once

#include "tutti/core/error.h"

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace tutti::cli {

struct Command {
  std::string name, doc;
  // Adds the command's options to `app` and returns the function to call when they have been read;
  // its result is the exit code.
  std::function<int()> (*add)(CLI::App& app) = nullptr;
};

extern const Command train_command, launch_command, eval_command, predict_command;
extern const Command show_command, tune_command, calibrate_command, list_command, data_command;
extern const Command bench_command, tucker_command, stack_command, report_command;

// The command line or the recipe is wrong: nothing was begun.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Runs `read`, which reads what the user asked for; its errors become UsageErrors.
template <class Function>
auto as_usage(Function&& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw UsageError("{}", error.what());
  }
}

}  // namespace tutti::cli
