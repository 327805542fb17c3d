// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/communicator.h"

#include "tutti/comm/backoff.h"
#include "tutti/core/clock.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace tutti {

Communicator::Communicator(std::unique_ptr<Transport> transport)
    : facts_(transport->facts()), transport_(std::move(transport)) {
  transport_->serve(operations_);
}

Request Communicator::send(const void* data, std::int64_t bytes, int to, int tag, int urgency) {
  if (!seals_) return transport_->send(data, bytes, to, tag, urgency);
  const std::lock_guard lock(*this);
  SealedMessage& message = seals_->seal(data, bytes, rank(), to, tag);
  Request request = transport_->send(
      message.sealed.data(), static_cast<std::int64_t>(message.sealed.size()), to, tag, urgency);
  request.sealed = &message;
  return request;
}

Request Communicator::receive(void* data, std::int64_t bytes, int from, int tag) {
  if (!seals_) return transport_->receive(data, bytes, from, tag);
  const std::lock_guard lock(*this);
  SealedMessage& message = seals_->expect(data, bytes, from, rank(), tag);
  Request request = transport_->receive(
      message.sealed.data(), static_cast<std::int64_t>(message.sealed.size()), from, tag);
  request.sealed = &message;
  return request;
}

bool Communicator::test(Request& request) {
  if (request.sealed == nullptr) return transport_->test(request);
  const std::lock_guard lock(*this);
  if (!transport_->test(request)) return false;
  seals_->open(*std::exchange(request.sealed, nullptr));
  return true;
}

std::optional<Waiting> Communicator::probe(int tag) {
  std::optional<Waiting> found = transport_->probe(tag);
  if (found && seals_) found->bytes -= seal_bytes;
  return found;
}

void Communicator::barrier() {
  Request arrival = transport_->arrive();
  wait_until([&] { return transport_->test(arrival); }, *this, "the barrier");
}

void Communicator::progress() {
  check_aborted();
  if (const Turn turn(*this); turn) operations_.advance();
}

InFlight::InFlight(Communicator& communicator, Operation& operation)
    : communicator_(communicator), operation_(operation) {
  const std::lock_guard lock(communicator_);
  communicator_.operations_.reserve_one();
}

InFlight::~InFlight() {
  const std::lock_guard lock(communicator_);
  if (!active_) return;
  communicator_.transport_->abandon();
  end();
}

void InFlight::begin() {
  const std::lock_guard lock(communicator_);
  check(!active_, "an operation is complete before it starts again");
  communicator_.operations_.begin(operation_);
  active_ = true;
}

void InFlight::end() {
  communicator_.operations_.end(operation_);
  active_ = false;
}

// A wait for other ranks, which ends in an error when it has lasted longer than the patience.
class Wait {
 public:
  Wait(Communicator& communicator, const char* what)
      : communicator_(communicator),
        activity_(communicator.transport_->activities().own()),
        outer_(activity_.waits_for.exchange(what, std::memory_order_relaxed)),
        what_(what) {}
  // A rank that has given up still tells the peers that ask what it waited for.
  ~Wait() {
    if (!given_up_) activity_.waits_for.store(outer_, std::memory_order_relaxed);
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  void pause() {
    if (communicator_.clock().give_way()) return communicator_.progress();
    // While this rank sends, its wait begins anew and so spins again, however long it takes in all.
    // Not where messages are cut into pieces (between nodes): there a message takes longer than a
    // sleep.
    if (const std::int64_t sent = communicator_.sent_bytes();
        sent != sent_ && communicator_.piece_bytes() == 0)
      sent_ = sent, backoff_ = {};
    backoff_.pause();
    communicator_.progress();
    // Reading the clock takes longer than a turn: it is read every 128 turns, and the first 128 do
    // not count.
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
        peers += fmt::format("; rank {} {}", rank, communicator_.transport_->activities().of(rank));
    communicator_.check_aborted();  // a rank may have failed meanwhile
    given_up_ = true;
    throw Error("it has waited {} s for {}{}", communicator_.patience_seconds_, what_, peers);
  }

  Communicator& communicator_;
  Activity& activity_;
  const char* outer_;
  const char* what_;
  std::chrono::steady_clock::time_point began_;
  std::uint64_t turns_ = 0;
  bool given_up_ = false;
  std::int64_t sent_ = communicator_.sent_bytes();
  Backoff backoff_;
};

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
