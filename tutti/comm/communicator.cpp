// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/communicator.h"

#include "tutti/comm/backoff.h"
#include "tutti/core/clock.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace tutti {

// Of ranks on one node: what copies through memory take.
Network Communicator::network() const {
  if (network_) return *network_;
  const LinkCost memory{1e-6, 1e-10, 1e-10};
  return {memory, memory, size()};
}

Request Communicator::send(const void* data, std::int64_t bytes, int to, int tag) {
  if (!seals_) return post_send(data, bytes, to, tag);
  const std::lock_guard lock(*this);
  SealedMessage& message = seals_->seal(data, bytes, rank(), to, tag);
  Request request =
      post_send(message.sealed.data(), static_cast<std::int64_t>(message.sealed.size()), to, tag);
  request.sealed = &message;
  return request;
}

Request Communicator::receive(void* data, std::int64_t bytes, int from, int tag) {
  if (!seals_) return post_receive(data, bytes, from, tag);
  const std::lock_guard lock(*this);
  SealedMessage& message = seals_->expect(data, bytes, from, rank(), tag);
  Request request = post_receive(message.sealed.data(),
                                 static_cast<std::int64_t>(message.sealed.size()), from, tag);
  request.sealed = &message;
  return request;
}

bool Communicator::test(Request& request) {
  if (request.sealed == nullptr) return test_posted(request);
  const std::lock_guard lock(*this);
  if (!test_posted(request)) return false;
  seals_->open(*std::exchange(request.sealed, nullptr));
  return true;
}

std::unique_ptr<Operation> Communicator::own_allreduce(const CollectiveArgs&, bool) {
  return nullptr;
}

double Communicator::seconds() const { return steady_seconds(); }

void Communicator::progress() {
  check_aborted();
  if (const Turn turn(*this); turn) advance_all();
}

void Communicator::advance_all() {
  // One that completes leaves the list, and the next takes its place.
  for (std::size_t i = 0; i < in_flight_.size();)
    if (!in_flight_[i]->advance()) ++i;
}

void Communicator::send_pieces() {
  for (Operation* operation : in_flight_)
    if (!operation->send_pieces()) return;
}

// There is room for all operations at once from the beginning.
InFlight::InFlight(Communicator& communicator, Operation& operation)
    : communicator_(communicator), operation_(operation) {
  const std::lock_guard lock(communicator_);
  communicator_.in_flight_.reserve(communicator_.in_flight_.capacity() + 1);
}

InFlight::~InFlight() {
  const std::lock_guard lock(communicator_);
  if (!active_) return;
  communicator_.abandon();
  end();
}

void InFlight::begin() {
  const std::lock_guard lock(communicator_);
  check(!active_, "an operation is complete before it starts again");
  auto& all = communicator_.in_flight_;
  const auto behind = std::upper_bound(
      all.begin(), all.end(), operation_.urgency(),
      [](int urgency, const Operation* other) { return urgency < other->urgency(); });
  all.insert(behind, &operation_);
  active_ = true;
}

void InFlight::end() {
  std::erase(communicator_.in_flight_, &operation_);
  active_ = false;
}

// A wait for others, which ends in an error when it has lasted too long.
class Wait {
 public:
  Wait(Communicator& communicator, const char* what)
      : communicator_(communicator),
        outer_(communicator.activity().waits_for.exchange(what, std::memory_order_relaxed)),
        what_(what) {}
  // A rank that has given up says to those who ask meanwhile what it waited for.
  ~Wait() {
    if (!given_up_) communicator_.activity().waits_for.store(outer_, std::memory_order_relaxed);
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  void pause() {
    if (communicator_.give_way()) return communicator_.progress();
    // What gets on step by step is looked at again soon, however long it takes in all; over a
    // network a step is longer than a sleep.
    if (const std::int64_t sent = communicator_.sent_bytes();
        sent != sent_ && communicator_.piece_bytes() == 0)
      sent_ = sent, backoff_ = {};
    backoff_.pause();
    communicator_.progress();
    // Looking at the clock takes longer than the first turns, which hardly count.
    if (communicator_.patience_seconds_ == 0 || ++turns_ % 128 != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (turns_ == 128) began_ = now;
    const std::chrono::duration<double> waited = now - began_;
    if (waited.count() >= communicator_.patience_seconds_) give_up();
  }

 private:
  [[noreturn]] void give_up() {
    std::string peers;
    for (int rank = 0; rank < communicator_.size(); ++rank)
      if (rank != communicator_.rank())
        peers += fmt::format("; rank {} {}", rank, communicator_.state_of(rank));
    communicator_.check_aborted();  // meanwhile
    given_up_ = true;
    throw Error("it has waited {} s for {}{}", communicator_.patience_seconds_, what_, peers);
  }

  Communicator& communicator_;
  const char* outer_;
  const char* what_;
  std::chrono::steady_clock::time_point began_;
  std::uint64_t turns_ = 0;
  bool given_up_ = false;
  std::int64_t sent_ = communicator_.sent_bytes();
  Backoff backoff_;
};

std::string Activity::text() const {
  if (const char* what = waits_for.load(std::memory_order_relaxed))
    return fmt::format("waits for {}", what);
  if (const char* what = doing.load(std::memory_order_relaxed))
    return fmt::format("is in {}", what);
  return "is elsewhere";
}

const char* Communicator::keep(const std::string& text) {
  return texts_.insert(text).first->c_str();
}

void wait_until(const std::function<bool()>& over, Communicator& communicator, const char* what) {
  if (over()) return;
  for (Wait wait(communicator, what); !over();) wait.pause();
}

void wait_ready(Operation& operation, Communicator& communicator) {
  wait_until([&] { return operation.ready(); }, communicator, operation.what());
}

void wait(Operation& operation, Communicator& communicator) {
  wait_ready(operation, communicator);
  wait_until([&] { return operation.advance(); }, communicator, operation.what());
}

void wait(Request& request, Communicator& communicator, const char* what) {
  wait_until([&] { return communicator.test(request); }, communicator, what);
}

}  // namespace tutti
