// SPDX-License-Identifier: Apache-2.0
// Ctrl-C (SIGINT), SIGTERM and SIGUSR1 as a wish to stop that a run looks at after every step. A
// second signal of a kind ends the program at once.
#pragma once

#include <csignal>
#include <vector>

namespace tutti {

// Listens while it lives; one at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The number of the first signal that came, or 0.
  int received() const;

 private:
  std::vector<struct sigaction> before_;
};

}  // namespace tutti
