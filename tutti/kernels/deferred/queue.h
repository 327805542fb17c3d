// SPDX-License-Identifier: Apache-2.0
// A stream of the deferred back end: a thread that does what it was given, in order and some time
// later. An event is a count of how often it was recorded and how often that was reached.
#pragma once

#include "tutti/core/device.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace tutti::deferred {

// The first exception of some queues: whoever synchronizes with them gets it.
class Failure {
 public:
  void keep(std::exception_ptr exception);
  void rethrow() const;

 private:
  mutable std::mutex mutex_;
  std::exception_ptr first_;
};

class Queue final : public DeviceStream {
 public:
  explicit Queue(std::shared_ptr<Failure> failure);
  ~Queue() override;  // when all is done

  void push(std::function<void()> task);
  void drain();

 private:
  void work();

  std::shared_ptr<Failure> failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // the first is under way
  bool ends_ = false;
  std::jthread thread_;  // begun with the first task; last: it uses the others
};

class Moment final : public DeviceEvent {
 public:
  void record(Queue& queue);
  void wait(Queue& queue) const;
  bool is_over() const;
  void wait_host() const;

 private:
  struct Counts {
    std::atomic<std::uint64_t> recorded{0}, reached{0};
    void wait_for(std::uint64_t count) const;
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();  // queues hold it, too
};

}  // namespace tutti::deferred
