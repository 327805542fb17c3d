// SPDX-License-Identifier: Apache-2.0
// Ctrl-C (SIGINT), SIGTERM, SIGHUP and SIGUSR1 as a wish to stop, which training looks at after
// every step. A second signal of the same kind ends the program at once, with a message. While a
// StopSignals listens, a reader of the output that goes away (SIGPIPE) ends nothing.
#pragma once

#include <csignal>
#include <utility>
#include <vector>

namespace tutti {

// Listens while it lives; one at a time. A SIGHUP that was ignored before, as by nohup, stays so.
class StopSignals {
 public:
  // `speaks`: the first signal is answered by a line on the error output where that is a terminal,
  // the second one always.
  explicit StopSignals(bool speaks = true);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The number of the first signal that came, or 0.
  int received() const;

 private:
  void listen(int number, void (*handler)(int));

  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace tutti
