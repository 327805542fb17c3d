// SPDX-License-Identifier: Apache-2.0
// Runs a program as a child and watches it. Where the child fails without a message of its own,
// prints one line that says how.
#pragma once

#include <string>
#include <vector>

namespace tutti::cli {

// How the child ended.
struct Ending {
  int code = 0;          // exit code; 128 + signal when a signal ended the child
  bool stopped = false;  // this program got a signal and passed it on
};

// Runs the command. Ends it when it has done no step for `timeout` seconds; 0: never. Ctrl-C,
// SIGTERM, SIGHUP and SIGUSR1 go to the child.
Ending supervise(const std::vector<std::string>& command, double timeout);

// The environment variable that names the file which a training run touches at its steps.
inline constexpr const char* heartbeat_variable = "TUTTI_HEARTBEAT";
// A function that touches this file, at most a few times a second; nullptr when this program is not
// watched.
void (*heartbeat())();

}  // namespace tutti::cli
