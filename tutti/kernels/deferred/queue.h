// SPDX-License-Identifier: Apache-2.0
// Streams and events of the deferred back end. A stream (Queue) is a thread that runs tasks in
// order and some time later. An event (Moment) counts how often it was recorded and how many of
// these records its stream has reached.
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

// The first exception of the queues of a device; synchronizing with the device rethrows it.
class Failure {
 public:
  void keep(std::exception_ptr exception);
  void rethrow() const;

 private:
  mutable std::mutex mutex_;
  std::exception_ptr first_;
};

// A stream: runs its tasks one after the other on a thread of its own.
class Queue final : public DeviceStream {
 public:
  explicit Queue(std::shared_ptr<Failure> failure);
  ~Queue() override;  // waits until all tasks are done

  void push(std::function<void()> task);
  // Waits until no task is left.
  void drain();

 private:
  void work();

  std::shared_ptr<Failure> failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // tasks that are not done; the first one is running
  bool ends_ = false;
  std::jthread thread_;  // started with the first task; declared last, as it uses the other members
};

// An event.
class Moment final : public DeviceEvent {
 public:
  void record(Queue& queue);
  // Lets the queue wait until the latest record is reached.
  void wait(Queue& queue) const;
  bool is_over() const;
  void wait_host() const;

 private:
  struct Counts {
    std::atomic<std::uint64_t> recorded{0}, reached{0};
    void wait_for(std::uint64_t count) const;
  };
  // Shared with tasks of queues, which may outlive the event.
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace tutti::deferred
