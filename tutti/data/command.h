// SPDX-License-Identifier: Apache-2.0
// Runs a program and waits for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::data {

struct CommandResult {
  bool found = true;   // false: there is no such program
  int code = 0;        // exit code, or 128 + the signal that ended it
  std::string output;  // the end of what the program wrote to standard output and error
};

// Runs words[0], found through PATH, in `folder` with no input; no shell is involved.
CommandResult run_command(const std::vector<std::string>& words,
                          const std::filesystem::path& folder);

}  // namespace tutti::data
