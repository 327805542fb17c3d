// SPDX-License-Identifier: Apache-2.0
// What the ranks of one job share where ranks are threads.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/comm/shared_memory.h"
#include "tutti/comm/threads/channel.h"
#include "tutti/comm/window.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace tutti {

class Hub {
 public:
  Hub(int ranks, int endpoints)
      : memory(ranks + endpoints),
        activities(static_cast<std::size_t>(ranks + endpoints)),
        ranks_(ranks),
        ends_(ranks + endpoints) {}

  int ranks() const { return ranks_; }
  // Ranks, and endpoints behind them.
  int ends() const { return ends_; }

  // The channel, made on first use by either side. Takes a lock: look it up once.
  Channel& channel(int from, int to, int tag);

  // The window of a rank, made on first use by any of them.
  Window& window(int rank);

  // A rank comes to the barrier and gets the barrier's number; it may go on when that barrier has
  // been passed.
  std::uint64_t arrive();
  bool passed(std::uint64_t barrier) const {
    return barriers_.load(std::memory_order_acquire) > barrier;
  }

  // The first abort of the job gives its rank and reason.
  void abort(int rank, const std::string& why);
  void check_aborted() const;

  SharedMemory memory;
  std::vector<Activity> activities;  // by end

 private:
  const int ranks_, ends_;
  std::mutex mutex_;  // guards channels_ and windows_
  std::map<std::tuple<int, int, int>, Channel> channels_;
  std::map<int, std::unique_ptr<Window>> windows_;  // by rank

  std::atomic<int> arrived_{0};
  std::atomic<std::uint64_t> barriers_{0};  // passed by all

  std::mutex abort_mutex_;  // guards failed_ and why_
  std::atomic<bool> aborted_{false};
  int failed_ = 0;
  std::string why_;
};

}  // namespace tutti
