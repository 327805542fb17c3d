// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/deferred/queue.h"

#include "tutti/core/cores.h"

#include <chrono>

namespace tutti::deferred {
namespace {

// Every fifth task begins late, so that code that does not wait for it fails in tests.
constexpr std::uint64_t tasks_between_delays = 5;
constexpr std::chrono::microseconds delay{50};

}  // namespace

void Failure::keep(std::exception_ptr exception) {
  const std::lock_guard lock(mutex_);
  if (first_ == nullptr) first_ = std::move(exception);
}

void Failure::rethrow() const {
  const std::lock_guard lock(mutex_);
  if (first_ != nullptr) std::rethrow_exception(first_);
}

Queue::Queue(std::shared_ptr<Failure> failure) : failure_(std::move(failure)) {}

Queue::~Queue() {
  const std::lock_guard lock(mutex_);
  ends_ = true;
  changed_.notify_all();
}

void Queue::push(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (!thread_.joinable()) thread_ = std::jthread([this] { work(); });
  changed_.notify_all();
}

void Queue::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty(); });
}

void Queue::work() {
  run_on_any_core();  // not bound to the core of the rank that started it
  std::uint64_t number = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    // A deque does not move its elements when others are pushed.
    std::function<void()>& task = tasks_.front();
    lock.unlock();
    if (++number % tasks_between_delays == 0) std::this_thread::sleep_for(delay);
    try {
      task();
    } catch (...) {
      failure_->keep(std::current_exception());
    }
    lock.lock();
    tasks_.pop_front();
    changed_.notify_all();
  }
}

void Moment::Counts::wait_for(std::uint64_t count) const {
  for (std::uint64_t now = reached.load(); now < count; now = reached.load()) reached.wait(now);
}

void Moment::record(Queue& queue) {
  const std::uint64_t number = ++counts_->recorded;
  queue.push([counts = counts_, number] {
    counts->reached = number;
    counts->reached.notify_all();
  });
}

void Moment::wait(Queue& queue) const {
  queue.push([counts = counts_, number = counts_->recorded.load()] { counts->wait_for(number); });
}

bool Moment::is_over() const { return counts_->reached == counts_->recorded; }

void Moment::wait_host() const { counts_->wait_for(counts_->recorded); }

}  // namespace tutti::deferred
