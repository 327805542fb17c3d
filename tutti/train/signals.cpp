// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/signals.h"

#include <atomic>

namespace tutti {
namespace {

constexpr int stop_signals[] = {SIGINT, SIGTERM, SIGUSR1};

// A handler can reach nothing else.
std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

void note(int number) {
  int none = 0;
  first_signal.compare_exchange_strong(none, number);
}

}  // namespace

StopSignals::StopSignals() {
  first_signal = 0;
  struct sigaction action = {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  for (const int number : stop_signals) ::sigaction(number, &action, &before_.emplace_back());
}

StopSignals::~StopSignals() {
  auto before = before_.begin();
  for (const int number : stop_signals) ::sigaction(number, &*before++, nullptr);
}

int StopSignals::received() const { return first_signal; }

}  // namespace tutti
