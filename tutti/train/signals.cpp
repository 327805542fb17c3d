// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/signals.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

namespace tutti {
namespace {

// Globals, since a signal handler can reach nothing else.
std::atomic<int> first_signal{0};
std::array<std::atomic<bool>, NSIG> came = {};  // by number
std::atomic<bool> answers{false}, on_terminal{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// fmt and stdio may not be used in a handler.
void say(std::string_view line) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void note(int number) {
  int none = 0;
  const bool first = first_signal.compare_exchange_strong(none, number);
  if (first && answers && on_terminal)
    say("\ntutti: stopping after this step, with a checkpoint; once more ends at once, without\n");
  // Schedulers send one kind as a warning and later another.
  if (!came[static_cast<std::size_t>(number)].exchange(true)) return;
  if (answers)
    say("tutti: ended at once by a second signal; what was done since the last checkpoint is "
        "lost\n");
  ::signal(number, SIG_DFL);
  ::raise(number);
}

}  // namespace

StopSignals::StopSignals(bool speaks) {
  first_signal = 0;
  for (std::atomic<bool>& one : came) one = false;
  answers = speaks;
  on_terminal = ::isatty(STDERR_FILENO) == 1;
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) listen(number, note);
  struct sigaction hangup = {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) listen(SIGHUP, note);
  listen(SIGPIPE, SIG_IGN);
}

void StopSignals::listen(int number, void (*handler)(int)) {
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESTART);
  sigemptyset(&action.sa_mask);
  ::sigaction(number, &action, &before);
  before_.emplace_back(number, before);
}

StopSignals::~StopSignals() {
  for (const auto& [number, before] : before_) ::sigaction(number, &before, nullptr);
}

int StopSignals::received() const { return first_signal; }

}  // namespace tutti
