// SPDX-License-Identifier: Apache-2.0
// Starts ranks as processes, and says what a shell would see.
#pragma once

#include "temporary_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace tutti {

struct Launched {
  int code = -1;
  std::string out, err;
  double seconds = 0;
};

// -q: what mpirun itself has to say about failures is left out.
inline const std::string mpirun =
    TUTTI_MPIRUN " -q --allow-run-as-root --oversubscribe --bind-to none";

inline std::string quoted(const std::string& word) { return "'" + word + "'"; }

// `command` in a folder, with at most a minute.
inline Launched launch(const TemporaryFolder& folder, const std::string& command) {
  const auto began = std::chrono::steady_clock::now();
  const int status = std::system(
      fmt::format("cd '{0}' && timeout 60 {1} >'{0}/out' 2>'{0}/err'", folder.file(""), command)
          .c_str());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  return {WEXITSTATUS(status), read_bytes(folder.file("out")), read_bytes(folder.file("err")),
          seconds.count()};
}

// "tutti train small.toml --set …"
// Earlier files are replaced, unless they are gone on with.
inline std::string train_command(const std::vector<std::string>& changes, bool resume = false) {
  std::string words =
      quoted(TUTTI_CLI) + " train small.toml --" + (resume ? "resume" : "overwrite");
  for (const std::string& change : changes) words += " --set " + quoted(change);
  return words;
}

inline Launched on_ranks(const TemporaryFolder& folder, int ranks, const std::string& command) {
  return launch(folder, fmt::format("{} -n {} {}", mpirun, ranks, command));
}

// Expects one line on the error output, with all parts.
inline void expect_one_message(const Launched& run, int code,
                               std::initializer_list<const char*> parts) {
  EXPECT_EQ(run.code, code) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  for (const char* part : parts)
    EXPECT_NE(run.err.find(part), std::string::npos) << part << " is not in: " << run.err;
  EXPECT_LT(run.seconds, 30);
}

}  // namespace tutti
