// SPDX-License-Identifier: Apache-2.0
// Runs a program as a child, watches it, and says in one line how it failed where it can't do so
// itself.
#pragma once

#include <string>
#include <vector>

namespace tutti::cli {

struct Ending {
  int code = 0;          // 128 + signal when one ended it
  bool stopped = false;  // by a signal to this program, which was passed on
};

// Ends the child when it has done no step for `timeout` seconds; 0: never. Ctrl-C, SIGTERM, SIGHUP
// and SIGUSR1 go to the child.
Ending supervise(const std::vector<std::string>& command, double timeout);

// The variable that names the file which a run touches at every step.
inline constexpr const char* heartbeat_variable = "TUTTI_HEARTBEAT";
// A function that does so a few times a second, or nothing when this program is not watched.
void (*heartbeat())();

}  // namespace tutti::cli
