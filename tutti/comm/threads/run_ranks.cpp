// SPDX-License-Identifier: Apache-2.0
// Ranks are std::threads, never OpenMP threads: a rank has an OpenMP team of its own.
#include "tutti/comm/run_rank.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/core/cores.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace tutti {
namespace {

constexpr auto patience = std::chrono::seconds(5);  // for ranks of a failed job to end

// Which ranks and endpoints are still running.
class Running {
 public:
  explicit Running(int ends)
      : running_(static_cast<std::size_t>(ends), true), running_count_(ends) {}

  void ends(int end) {
    const std::lock_guard lock(mutex_);
    running_[static_cast<std::size_t>(end)] = false;
    --running_count_;
    changed_.notify_all();
  }

  // Returns when all have ended. A rank that hangs while the others have failed can be ended only
  // with the process.
  void wait(Communicator& any) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(100),
                              [&] { return running_count_ == 0; }))
      try {
        any.check_aborted();
      } catch (const Aborted& failure) {
        if (!changed_.wait_for(lock, patience, [&] { return running_count_ == 0; }))
          give_up(failure);
        return;
      }
  }

 private:
  [[noreturn]] void give_up(const Aborted& failure) const {
    std::string hanging;
    for (std::size_t rank = 0; rank < running_.size(); ++rank)
      if (running_[rank]) hanging += fmt::format("; rank {} does not end", rank);
    std::fflush(stdout);
    fmt::print(stderr, "tutti: {}{}\n", failure.what(), hanging);
    std::_Exit(EXIT_FAILURE);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> running_;
  int running_count_;
};

}  // namespace

void run_ranks(int ranks, const std::function<void(Communicator&)>& body, int endpoints) {
  const auto communicators = thread_communicators(ranks, endpoints);
  if (ranks + endpoints == 1) return body(*communicators[0]);

  Running running(ranks + endpoints);
  std::vector<std::jthread> threads;
  for (const auto& communicator : communicators)
    threads.emplace_back([&body, &communicator, &running] {
      run_on_any_core();
      run_rank(*communicator, body);
      running.ends(communicator->rank());
    });
  running.wait(*communicators[0]);
  for (std::jthread& thread : threads) thread.join();
  communicators[0]->check_aborted();
}

}  // namespace tutti
