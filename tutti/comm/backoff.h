// SPDX-License-Identifier: Apache-2.0
// How to wait for another thread: spin for about 2 µs, as long as a rendezvous of two running
// threads takes; then yield for about 1 ms, so that more ranks than cores make progress; then
// sleep.
#pragma once

#include <chrono>
#include <thread>

namespace tutti {

class Backoff {
 public:
  void pause() {
    if (turn_ < spins) {
      relax();
    } else if (turn_ < spins + yields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      return;
    }
    ++turn_;
  }

 private:
  static constexpr int spins = 100, yields = 2000;

  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  int turn_ = 0;
};

}  // namespace tutti
